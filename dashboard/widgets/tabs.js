const STYLE = `
  [role=tablist] {display: flex; gap: 2px; height: 100%}
  button {position: relative; font: inherit; font-size: var(--wf-body-size); color: var(--wf-quiet);
    background: none; border: 0; border-radius: var(--wf-radius); padding: 5px 10px; cursor: pointer;
    white-space: nowrap}
  button:hover {color: var(--wf-ink); background: color-mix(in srgb, currentColor 7%, transparent)}
  button[aria-selected=true] {color: var(--wf-ink); font-weight: 600}
  button[aria-selected=true]::after {content: ""; position: absolute; inset: auto 10px 0;
    height: 2px; border-radius: 1px; background: var(--wf-accent)}
  button:focus-visible {outline: 2px solid var(--wf-accent); outline-offset: -2px}
  .count {margin-left: 5px; font-weight: 400; color: var(--wf-quiet);
    font-variant-numeric: tabular-nums}`

export function render({model}) {
  const list = document.createElement("div")
  list.setAttribute("role", "tablist")
  list.setAttribute("aria-label", model.label)
  const draw = () => {
    const had_focus = list.contains(list.getRootNode().activeElement)
    list.replaceChildren(...model.names.map((name, place) => {
      const tab = document.createElement("button")
      tab.type = "button"
      tab.textContent = name
      tab.setAttribute("role", "tab")
      tab.setAttribute("aria-selected", place === model.active)
      tab.tabIndex = place === model.active ? 0 : -1
      tab.addEventListener("click", () => (model.active = place))
      if (model.counts[place]) {
        const count = document.createElement("span")
        count.className = "count"
        count.textContent = model.counts[place]
        tab.append(count)
      }
      return tab
    }))
    if (had_focus) list.children[model.active].focus()
  }
  list.addEventListener("keydown", (event) => {
    const by = {ArrowRight: 1, ArrowLeft: -1}[event.key]
    if (by) {
      event.preventDefault()
      event.stopPropagation()
      model.active = (model.active + by + model.names.length) % model.names.length
    }
  })
  model.on(["names", "active", "counts"], draw)
  draw()
  const style = document.createElement("style")
  style.textContent = STYLE
  const root = document.createElement("div")
  root.append(style, list)
  return root
}
