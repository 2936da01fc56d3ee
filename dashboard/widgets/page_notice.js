const LINE = "position: fixed; inset: auto 0 0 0; z-index: 2000; display: none; gap: 16px; "
  + "align-items: center; justify-content: center; padding: 10px 16px; color: #fff; "
  + "background: #b3261e; font-size: 0.9rem; line-height: 1.4"
const BUTTON = "flex: none; font: inherit; font-weight: 600; color: inherit; background: none; "
  + "padding: 4px 14px; border: 1px solid; border-radius: 4px; cursor: pointer"

export function render({model, view}) {
  const line = document.createElement("div")
  line.setAttribute("role", "alert")
  line.style.cssText = LINE
  const button = (label, action) => {
    const made = document.createElement("button")
    made.textContent = label
    made.style.cssText = BUTTON
    made.addEventListener("click", action)
    return made
  }
  const reload = button("Reload", () => window.location.reload())
  const close = button("Close", () => { model.text = "" })
  const show = (text, ...buttons) => {
    // Filled only now: an alert that is there from the start is read out as soon as it is met.
    line.replaceChildren(document.createTextNode(text), ...buttons)
    line.style.display = text ? "flex" : "none"
  }
  const draw = () => show(model.text, ...(model.offers_reload ? [reload, close] : [close]))
  model.on("text", draw)
  model.on("offers_reload", draw)
  view.model.document.on_event("connection_lost", () => show(model.lost, reload))
  draw()
  return line
}
