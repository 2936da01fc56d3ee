const is_object = (value) =>
  value !== null && typeof value === "object" && !Array.isArray(value)

// What one page changed, since `before`, in what others may have changed as well. Lists are sets.
function merge(before, mine, theirs) {
  if (is_object(mine) && is_object(theirs)) {
    const names = new Set([...Object.keys(theirs), ...Object.keys(mine)])
    const merged = [...names].map((name) => [name, merge(before?.[name], mine[name], theirs[name])])
    return Object.fromEntries(merged.filter(([, value]) => value !== undefined))
  }
  if (Array.isArray(mine) && Array.isArray(theirs)) {
    const texts = (list) => new Set((list ?? []).map((each) => JSON.stringify(each)))
    const [was, is, there] = [texts(before), texts(mine), texts(theirs)]
    const kept = [...there].filter((text) => is.has(text) || !was.has(text))
    const added = [...is].filter((text) => !there.has(text) && !was.has(text))
    return [...kept, ...added].map((text) => JSON.parse(text))
  }
  return JSON.stringify(mine) === JSON.stringify(before) ? theirs : mine
}

export function render({model}) {
  const key = `wattfold:${model.key}`
  const parse = (text) => {
    try {
      return JSON.parse(text)
    } catch {
      return null // damaged: as if there were nothing
    }
  }
  const read = () => {
    try {
      return parse(localStorage.getItem(key))
    } catch {
      return null // Nothing is kept where the browser does not allow it.
    }
  }
  const kept = read()
  if (kept) model.send_msg({new: kept})
  let before = {}
  model.on("content", () => {
    const merged = merge(before, model.content, read() ?? {})
    before = model.content
    try {
      localStorage.setItem(key, JSON.stringify(merged))
    } catch {
      // As above, or there is no room.
    }
  })
  // Told of what other pages write.
  const follow = (event) => {
    if (event.key === key && event.newValue) {
      model.send_msg({old: parse(event.oldValue) ?? {}, new: parse(event.newValue)})
    }
  }
  window.addEventListener("storage", follow)
  model.on("remove", () => window.removeEventListener("storage", follow))
  const nothing = document.createElement("span")
  nothing.hidden = true
  return nothing
}
