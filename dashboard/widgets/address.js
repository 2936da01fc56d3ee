export function render({model}) {
  const write = () => {
    if (model.query !== window.location.search) {
      window.history.pushState(null, "", model.query || window.location.pathname)
    }
  }
  const name = () => (document.title = model.title)
  const go = () => model.send_msg(window.location.search)
  model.on("query", write)
  model.on("title", name)
  name()
  window.addEventListener("popstate", go)
  model.on("remove", () => window.removeEventListener("popstate", go))
  const nothing = document.createElement("span")
  nothing.hidden = true
  return nothing
}
