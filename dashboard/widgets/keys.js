// A text field inside web components shows only in the composed path.
function typing(event) {
  return event.composedPath().some((element) =>
    element.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(element.tagName))
}

// Lists, menus, tables and sliders have arrow keys of their own.
function moving(event) {
  const roles = ["menu", "menuitem", "listbox", "option", "slider", "tab", "grid", "combobox",
    "spinbutton", "radio", "separator", "columnheader", "dialog"]
  return event.composedPath().some((element) =>
    element.getAttribute && roles.includes(element.getAttribute("role")))
}

// With Control, Shift counts and Caps Lock does not.
function name_of(event) {
  if (!event.ctrlKey && !event.metaKey) {
    return event.key
  }
  return `Control+${event.shiftKey ? "Shift+" : ""}${event.key.toLowerCase()}`
}

export function render({model}) {
  const press = (event) => {
    const name = name_of(event)
    if (!model.names.includes(name) || event.altKey || event.defaultPrevented) {
      return
    }
    if (typing(event) || (event.key.startsWith("Arrow") && moving(event))) {
      return
    }
    event.preventDefault()
    model.send_msg(name)
  }
  // The browser does not find its way back into a shadow tree when a dialog closes: remember what
  // was clicked, by mouse or key, before the dialog was there.
  let last = null
  const remember = (event) => {
    const path = event.composedPath()
    if (!path.some((element) => element.classList?.contains("MuiDialog-root"))) {
      last = path.find((element) => element.matches?.("button, input, a[href], [tabindex]"))
    }
  }
  document.addEventListener("keydown", press)
  document.addEventListener("click", remember, true)
  model.on("msg:custom", () => last?.focus({preventScroll: true}))
  model.on("remove", () => {
    document.removeEventListener("keydown", press)
    document.removeEventListener("click", remember, true)
  })
  const nothing = document.createElement("span")
  nothing.hidden = true
  return nothing
}
