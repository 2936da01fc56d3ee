const STYLE = `
  button {display: flex; gap: 8px; align-items: center; width: 100%; font: inherit;
    font-size: var(--wf-body-size); line-height: 1.4; text-align: left; color: var(--wf-ink);
    background: none; border: 1px solid var(--wf-line); border-radius: var(--wf-radius);
    padding: 6px 10px; cursor: pointer}
  button:hover {border-color: var(--wf-quiet)}
  button:focus-visible {outline: 2px solid var(--wf-accent)}
  .text {flex: 1; overflow-wrap: anywhere}
  .arrow {flex: none; border: 4px solid transparent; border-top-color: currentColor;
    border-bottom: 0; transition: transform 120ms}
  [aria-expanded=true] .arrow {transform: rotate(180deg)}`

export function render({model}) {
  const button = document.createElement("button")
  button.type = "button"
  const [text, arrow] = ["text", "arrow"].map((name) => {
    const part = document.createElement("span")
    part.className = name
    return part
  })
  const draw = () => {
    text.textContent = model.text
    button.title = model.hint
    button.setAttribute("aria-expanded", model.open)
  }
  button.addEventListener("click", () => (model.open = !model.open))
  button.append(text, arrow)
  model.on(["text", "open", "hint"], draw)
  draw()
  const style = document.createElement("style")
  style.textContent = STYLE
  const root = document.createElement("div")
  root.append(style, button)
  return root
}
