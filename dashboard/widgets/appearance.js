const KEY = "wattfold:paper"

function remembered() {
  try {
    return localStorage.getItem(KEY)
  } catch {
    return null
  }
}

export function render({view}) {
  const frame = view.model.document.roots().find((root) => root.data && "dark_theme" in root.data)
  const nothing = document.createElement("span")
  nothing.hidden = true
  if (!frame) {
    return nothing
  }
  const system = window.matchMedia("(prefers-color-scheme: dark)")
  const mark = () => {
    const paper = frame.data.dark_theme ? "dark" : "light"
    document.documentElement.dataset.paper = paper
    return paper
  }
  const paper = remembered() ?? (system.matches ? "dark" : "light")
  frame.data.setv({dark_theme: paper === "dark"})
  mark()
  frame.data.properties.dark_theme.change.connect(() => {
    const now = mark()
    try {
      // What the system says is not kept, so that it goes on being followed.
      if (now === (system.matches ? "dark" : "light")) localStorage.removeItem(KEY)
      else localStorage.setItem(KEY, now)
    } catch {
      // Nothing is kept where the browser does not allow it.
    }
  })
  const follow = () => remembered() ?? frame.data.setv({dark_theme: system.matches})
  system.addEventListener("change", follow)
  return nothing
}
