// Parts one upon the other, of which one is seen. The others keep their size: Bokeh lays out the
// whole page once for each part of it that changes its size, which takes a second for a tab.
const STYLE = `
  :host {min-height: 0; min-width: 0}
  .stack {position: relative; display: flex; flex-direction: column; width: 100%; height: 100%;
    min-height: 0; min-width: 0}
  .part {display: flex; flex-direction: column; flex: 1 1 auto; min-height: 0; min-width: 0}
  .part > * {min-height: 0; min-width: 0}
  .behind {position: absolute; inset: 0; overflow: hidden; visibility: hidden;
    content-visibility: hidden}`

export function render({model}) {
  const root = document.createElement("div")
  root.className = "stack"
  const parts = model.get_child("parts").map((child, place) => {
    const part = document.createElement("div")
    part.setAttribute("role", "tabpanel")
    part.setAttribute("aria-label", model.names[place])
    part.append(child)
    return part
  })
  const draw = () => parts.forEach((part, place) => {
    part.className = place === model.active ? "part" : "part behind"
  })
  model.on("active", draw)
  draw()
  const style = document.createElement("style")
  style.textContent = STYLE
  root.append(style, ...parts)
  return root
}
