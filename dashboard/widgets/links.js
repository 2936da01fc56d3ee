const STYLE = `
  ol {list-style: none; margin: 0; padding: 0; font-size: 0.82rem}
  button {display: grid; grid-template-columns: 1.6em minmax(0, 1fr) 80px 7em; gap: 8px;
    align-items: center; width: 100%; font: inherit; color: inherit; text-align: left;
    background: none; border: 0; border-radius: 4px; padding: 3px 6px; cursor: pointer}
  button:hover {background: color-mix(in srgb, currentColor 9%, transparent)}
  button:focus-visible {outline: 2px solid var(--wf-accent)}
  .number {opacity: 0.6; text-align: right}
  .text {overflow: hidden; text-overflow: ellipsis; white-space: nowrap;
         color: var(--wf-accent)}
  .track {height: 6px; border-radius: 3px; background: color-mix(in srgb, currentColor 12%, transparent)}
  .bar {height: 6px; border-radius: 3px; background: var(--wf-accent)}
  .note {text-align: right; font-variant-numeric: tabular-nums}`

export function render({model}) {
  const style = document.createElement("style")
  style.textContent = STYLE
  const list = document.createElement("ol")
  const draw = () => {
    list.replaceChildren(...model.items.map((item, place) => {
      const line = document.createElement("li")
      const button = document.createElement("button")
      button.type = "button"
      const number = document.createElement("span")
      number.className = "number"
      number.textContent = place + 1
      const text = document.createElement("span")
      text.className = "text"
      text.textContent = item.text
      button.title = `Go to ${item.text}`
      const track = document.createElement("span")
      track.className = "track"
      const bar = document.createElement("div")
      bar.className = "bar"
      bar.style.width = `${Math.round(100 * item.bar)}%`
      track.append(bar)
      const note = document.createElement("span")
      note.className = "note"
      note.textContent = item.note
      button.append(number, text, track, note)
      button.addEventListener("click", () => model.send_msg(item.row))
      line.append(button)
      return line
    }))
  }
  model.on("items", draw)
  draw()
  const root = document.createElement("div")
  root.append(style, list)
  return root
}
