// Two panes with a handle between them. In a narrow window they stand one below the other.
const STYLE = `
  :host {min-height: 0; min-width: 0}
  .split {display: flex; width: 100%; height: 100%; min-height: 0; min-width: 0;
    color: var(--wf-ink); font-family: var(--wf-font)}
  .split.bottom {flex-direction: column}
  .pane {position: relative; display: flex; flex-direction: column; min-width: 0; min-height: 0;
    overflow: hidden}
  .pane > * {min-width: 0; min-height: 0}
  .main {flex: 1 1 0}
  .side {flex: 0 1 var(--size); background: var(--wf-paper)}
  .left > .side {background: var(--wf-surface)}
  .side.scrolls {overflow: hidden auto; overscroll-behavior: contain; scrollbar-width: thin}
  .side.scrolls > * {flex: none}
  .left > .side, .right > .side {max-width: 60%}
  .bottom > .side {max-height: 70%}
  .handle {flex: none; position: relative; background: var(--wf-line); touch-action: none;
    z-index: 2; outline: none}
  .left > .handle, .right > .handle {width: 1px; cursor: col-resize}
  .bottom > .handle {height: 1px; cursor: row-resize}
  .handle::after {content: ""; position: absolute; inset: 0 -4px}
  .bottom > .handle::after {inset: -4px 0}
  .handle:hover, .handle:focus-visible, .handle.dragged {background: var(--wf-accent);
    box-shadow: 0 0 0 1px var(--wf-accent)}
  .closed > .side, .closed > .handle {display: none}
  @media (max-width: 700px) {
    :host, .split-pane {height: auto !important}
    .split {flex-direction: column; height: auto}
    .pane {overflow: visible}
    .main {flex: none}
    .bottom > .main {height: max(420px, 76svh)}
    .side, .left > .side, .right > .side, .bottom > .side {flex: none; max-width: none;
      max-height: none; overflow: visible}
    .bottom > .side {max-height: 60svh; overflow: auto}
    .handle {pointer-events: none}
  }`

const STEP = 24
// A larger screen has more room for what it holds.
const fitting = ({size, place}) => Math.round(
  size * Math.max(1, place === "bottom" ? innerHeight / 1080 : innerWidth / 1920))
const kept = (model) => model.keep && `wattfold:${model.keep}`

function restore(model) {
  model.size = fitting(model)
  try {
    const {size, open} = JSON.parse(localStorage.getItem(kept(model))) ?? {}
    if (Number.isFinite(size)) model.size = size
    if (typeof open === "boolean") model.open = open
  } catch {
    // Nothing is kept where the browser does not allow it.
  }
}

function keep(model) {
  try {
    localStorage.setItem(kept(model), JSON.stringify({size: model.size, open: model.open}))
  } catch {
    // As above.
  }
}

export function render({model}) {
  const root = document.createElement("div")
  const [main, handle, side] = ["main", "handle", "side"].map((name) => {
    const part = document.createElement("div")
    part.className = name === "handle" ? name : `pane ${name}`
    return part
  })
  main.append(model.get_child("main"))
  side.append(model.get_child("side"))
  side.classList.toggle("scrolls", model.scrolls)
  side.setAttribute("role", "region")
  side.setAttribute("aria-label", model.label)
  const lies = model.place === "bottom"
  handle.tabIndex = 0
  handle.setAttribute("role", "separator")
  handle.setAttribute("aria-orientation", lies ? "horizontal" : "vertical")
  handle.setAttribute("aria-label", `Size of ${model.label}`)
  const room = () => (lies ? root.clientHeight : root.clientWidth)
  const bounded = (size) =>
    Math.round(Math.min(Math.max(size, model.minimum), Math.max(0.7 * room(), model.minimum)))
  const draw = () => {
    root.className = `split ${model.place} ${model.open ? "" : "closed"}`
    root.style.setProperty("--size", `${model.size}px`)
    handle.setAttribute("aria-valuenow", model.size)
    handle.setAttribute("aria-valuemin", model.minimum)
  }
  // Towards the side pane, the pointer makes it smaller.
  const sign = model.place === "left" ? 1 : -1
  handle.addEventListener("pointerdown", (start) => {
    handle.setPointerCapture(start.pointerId)
    handle.classList.add("dragged")
    const [from, size] = [lies ? start.clientY : start.clientX, model.size]
    let last = size
    const move = (event) => {
      last = bounded(size + sign * ((lies ? event.clientY : event.clientX) - from))
      root.style.setProperty("--size", `${last}px`)
    }
    const end = () => {
      handle.removeEventListener("pointermove", move)
      handle.classList.remove("dragged")
      model.size = last
    }
    handle.addEventListener("pointermove", move)
    handle.addEventListener("lostpointercapture", end, {once: true})
  })
  handle.addEventListener("dblclick", () => (model.open = false))
  handle.addEventListener("keydown", (event) => {
    const [less, more] = lies ? ["ArrowDown", "ArrowUp"]
      : model.place === "left" ? ["ArrowLeft", "ArrowRight"] : ["ArrowRight", "ArrowLeft"]
    if (event.key === less || event.key === more) {
      event.preventDefault()
      model.size = bounded(model.size + (event.key === more ? STEP : -STEP))
    }
  })
  if (model.keep) {
    restore(model)
    model.on(["size", "open"], () => keep(model))
  }
  model.on(["size", "open"], draw)
  draw()
  const style = document.createElement("style")
  style.textContent = STYLE
  const parts = [main, handle, side]
  root.append(style, ...(model.place === "left" ? parts.reverse() : parts))
  return root
}
