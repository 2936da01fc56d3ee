const STYLE = `
  .legend {display: flex; flex-wrap: wrap; align-items: center; gap: 0 2px; font-size: var(--wf-small-size)}
  .title {font-weight: 600; margin-right: 4px}
  button {display: inline-flex; align-items: center; gap: 4px; font: inherit; color: inherit;
    background: none; border: 1px solid transparent; border-radius: 12px; padding: 1px 4px 1px 3px;
    cursor: pointer; max-width: 190px; white-space: nowrap}
  button:hover {border-color: color-mix(in srgb, currentColor 35%, transparent)}
  button:focus-visible {outline: 2px solid var(--wf-accent)}
  button[aria-pressed="false"] {opacity: 0.4; text-decoration: line-through}
  .dot {flex: none; width: 10px; height: 10px; border-radius: 50%;
    border: 1px solid color-mix(in srgb, currentColor 45%, transparent)}
  .name {overflow: hidden; text-overflow: ellipsis}
  .note {color: var(--wf-quiet)}
  .mark {display: inline-flex; align-items: center; gap: 5px; padding: 1px 4px; white-space: nowrap}
  .diamond {width: 8px; height: 8px; transform: rotate(45deg); border: 1.5px solid currentColor}
  .scale {display: flex; flex-direction: column; width: 240px; margin-right: 8px}
  .bar {height: 10px; border-radius: 2px}
  .ticks {position: relative; height: 1.1em; font-variant-numeric: tabular-nums}
  .ticks span {position: absolute; white-space: nowrap}`

function entry_button(model, entry) {
  const button = document.createElement("button")
  const shown = !model.hidden.includes(entry.name)
  button.type = "button"
  button.setAttribute("aria-pressed", shown)
  button.title = `${entry.name}: click to ${shown ? "hide" : "show"}, double-click to show it alone, ` +
    "Shift+click to choose its points"
  const dot = document.createElement("span")
  dot.className = "dot"
  dot.style.background = entry.color
  const name = document.createElement("span")
  name.className = "name"
  name.textContent = entry.name
  const note = document.createElement("span")
  note.className = "note"
  note.textContent = entry.note
  button.append(dot, name, note)
  button.addEventListener("click", (event) => {
    if (event.shiftKey) {
      model.send_msg(entry.name)
      return
    }
    model.hidden = shown
      ? [...model.hidden, entry.name]
      : model.hidden.filter((name) => name !== entry.name)
  })
  button.addEventListener("dblclick", () => {
    const others = model.entries.map((other) => other.name).filter((name) => name !== entry.name)
    const alone = others.every((name) => model.hidden.includes(name))
    model.hidden = alone ? [] : others
  })
  return button
}

function mark_entry({name, note}) {
  const entry = document.createElement("span")
  entry.className = "mark"
  const shape = document.createElement("span")
  shape.className = "diamond"
  const count = document.createElement("span")
  count.className = "note"
  count.textContent = note
  entry.append(shape, name, count)
  return entry
}

function scale_bar(model) {
  const scale = document.createElement("div")
  scale.className = "scale"
  const bar = document.createElement("div")
  bar.className = "bar"
  bar.style.background = `linear-gradient(to right, ${model.scale.join(",")})`
  const ticks = document.createElement("div")
  ticks.className = "ticks"
  for (const [place, label] of model.ticks) {
    const tick = document.createElement("span")
    tick.textContent = label
    tick.style.left = `${100 * place}%`
    tick.style.transform = `translateX(${-100 * place}%)`
    ticks.append(tick)
  }
  scale.append(bar, ticks)
  return scale
}

export function render({model}) {
  const style = document.createElement("style")
  style.textContent = STYLE
  const legend = document.createElement("div")
  legend.className = "legend"
  legend.setAttribute("role", "group")
  const draw = () => {
    legend.setAttribute("aria-label", `Legend: ${model.title}`)
    const title = document.createElement("span")
    title.className = "title"
    title.textContent = model.title
    legend.replaceChildren(title)
    if (model.scale.length) {
      legend.append(scale_bar(model))
    }
    legend.append(...model.entries.map((entry) => entry_button(model, entry)))
    if (model.mark.name) {
      legend.append(mark_entry(model.mark))
    }
    if (model.missing) {
      const missing = document.createElement("span")
      missing.className = "note"
      missing.textContent = model.missing
      legend.append(missing)
    }
  }
  for (const name of ["title", "entries", "mark", "hidden", "scale", "ticks", "missing"]) {
    model.on(name, draw)
  }
  draw()
  const root = document.createElement("div")
  root.append(style, legend)
  return root
}
