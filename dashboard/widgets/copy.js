const FIELD = `flex: 1; min-width: 0; resize: none; padding: 7px 9px; border-radius: 4px;
  border: 1px solid color-mix(in srgb, currentColor 30%, transparent); background: transparent;
  color: inherit; font: 0.8rem/1.45 ui-monospace, monospace; white-space: pre`
const BUTTON = `padding: 6px 14px; border-radius: 4px; border: 1px solid currentColor; cursor: pointer;
  background: transparent; color: inherit; font: 500 0.8rem/1.5 inherit; align-self: flex-start`

export function render({model}) {
  const box = document.createElement("div")
  box.style.cssText = "display: flex; gap: 8px; width: 100%; font-family: inherit"
  const field = document.createElement("textarea")
  field.readOnly = true
  field.spellcheck = false
  field.style.cssText = FIELD
  const button = document.createElement("button")
  button.type = "button"
  button.style.cssText = BUTTON
  const draw = () => {
    const {origin, pathname} = window.location
    field.value = model.is_query && model.text ? origin + pathname + model.text : model.text
    field.rows = model.lines
    field.style.overflow = model.lines > 1 ? "auto" : "hidden"  // a scrollbar would hide one line
    field.setAttribute("aria-label", model.label)
    button.textContent = "Copy"
    button.disabled = !model.text
  }
  button.onclick = async () => {
    try {
      await navigator.clipboard.writeText(field.value)
    } catch {
      // Browsers give the clipboard only to pages that came safely; the old way works on all.
      field.select()
      document.execCommand("copy")
    }
    button.textContent = "Copied"
    setTimeout(() => { button.textContent = "Copy" }, 1500)
  }
  field.onfocus = () => field.select()
  for (const name of ["text", "is_query", "lines", "label"]) {
    model.on(name, draw)
  }
  draw()
  box.append(field, button)
  return box
}
