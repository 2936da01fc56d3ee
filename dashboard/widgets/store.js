export function render({model}) {
  const key = `wattfold:${model.key}`
  try {
    const kept = localStorage.getItem(key)
    if (kept) model.send_msg(JSON.parse(kept))
  } catch {
    // Nothing is kept where the browser does not allow it.
  }
  model.on("content", () => {
    try {
      localStorage.setItem(key, JSON.stringify(model.content))
    } catch {
      // As above, or there is no room.
    }
  })
  const nothing = document.createElement("span")
  nothing.hidden = true
  return nothing
}
