// One of many maps of the same points. The picture is drawn once on a canvas; what follows the
// pointer and the selection is drawn on another one above it.

const STYLE = `
  .card {display: flex; flex-direction: column; min-width: 0; font-size: 0.75rem; line-height: 1.35}
  .head {display: flex; align-items: baseline; gap: 6px; min-height: 1.5em}
  .open {font: inherit; font-weight: 600; font-size: 0.8rem; color: inherit; background: none;
    border: 0; border-radius: 4px; padding: 0 3px; margin-left: -3px; text-align: left;
    overflow: hidden; text-overflow: ellipsis; white-space: nowrap}
  .open:enabled {cursor: pointer}
  .open:enabled:hover, .open:focus-visible {color: var(--wf-accent); text-decoration: underline}
  .open:focus-visible {outline: 2px solid var(--wf-accent)}
  .figures {display: flex; flex-wrap: wrap; gap: 0 9px; min-height: 1.35em;
    font-variant-numeric: tabular-nums; white-space: nowrap}
  .figures .what {opacity: 0.62; margin-right: 3px}
  .figures .best {font-weight: 700}
  .plate {position: relative; border-radius: 6px; overflow: hidden; margin-top: 2px;
    border: 1px solid color-mix(in srgb, currentColor 18%, transparent)}
  .plate.drawn {cursor: crosshair}
  .plate.absent {border-style: dashed}
  canvas {position: absolute; inset: 0; width: 100%; height: 100%}
  .cover {position: absolute; inset: 0; display: flex; align-items: center;
    justify-content: center; padding: 8px; text-align: center; white-space: pre-line;
    overflow-wrap: anywhere}
  .cover span {opacity: 0.7; max-height: 100%; overflow: auto}
  .failed .cover span {opacity: 1; color: #d32f2f; font-weight: 500}
  .bar {position: absolute; left: 0; bottom: 0; height: 3px; background: var(--wf-accent);
    transition: width 0.2s}
  .tip {position: absolute; z-index: 2; pointer-events: none; padding: 1px 6px; border-radius: 4px;
    background: #1f2937; color: #fff; font-size: 0.72rem; white-space: nowrap; max-width: 94%;
    overflow: hidden; text-overflow: ellipsis}`

const ACCENT = "#3b82f6"
const EDGE = "#7d8aa0"
const WRONG = "#e0532f"
const MARGIN = 9
const REACH = 10 // pixels around a point that count as the point
const HOVER = "wattfold:hover"
const MARKS = "wattfold:marks"

function element(tag, name, parent) {
  const made = document.createElement(tag)
  made.className = name
  parent?.append(made)
  return made
}

// A canvas of as many pixels as the screen has there, cleared, with units of CSS pixels.
function clear(canvas) {
  const {clientWidth: width, clientHeight: height} = canvas
  const ratio = window.devicePixelRatio || 1
  canvas.width = Math.round(width * ratio)
  canvas.height = Math.round(height * ratio)
  const pen = canvas.getContext("2d")
  pen.scale(ratio, ratio)
  return pen
}

class Projection {
  constructor(extent, width, height) {
    const [across, up] = extent.map((side) => Math.max(side, 1e-6))
    this.scale = Math.min((width - 2 * MARGIN) / across, (height - 2 * MARGIN) / up)
    this.left = (width - this.scale * across) / 2
    this.bottom = (height + this.scale * up) / 2
    this.size = [this.scale * across, this.scale * up]
  }
  x(place) { return this.left + this.scale * place }
  y(place) { return this.bottom - this.scale * place }
  back(x, y) { return [(x - this.left) / this.scale, (this.bottom - y) / this.scale] }
}

function ring(pen, x, y, radius, width) {
  pen.beginPath()
  pen.arc(x, y, radius, 0, 2 * Math.PI)
  pen.strokeStyle = ACCENT
  pen.lineWidth = width
  pen.stroke()
}

export function render({model}) {
  const card = element("div", "card")
  element("style", "", card).textContent = STYLE
  const head = element("div", "head", card)
  const open = element(model.hint ? "button" : "span", "open", head)
  open.type = "button"
  const figures = element("div", "figures", card)
  const plate = element("div", "plate", card)
  const paper = element("canvas", "paper", plate)
  const glass = element("canvas", "glass", plate)
  paper.setAttribute("aria-hidden", "true")
  glass.setAttribute("role", "img")
  const cover = element("div", "cover", plate)
  const words = element("span", "", cover)
  const bar = element("div", "bar", plate)
  const tip = element("div", "tip", plate)
  tip.hidden = true

  let projection = null
  let places = new Float32Array()
  let rows = new Int32Array()
  let index = null // of each row, made when it is first asked for
  let picture = null
  let hovered = null
  const me = Symbol("map")

  const write = () => {
    open.textContent = model.heading
    open.title = model.hint
    if (model.hint) {
      open.setAttribute("aria-label", model.hint)
    }
    open.disabled = !model.opens
    figures.replaceChildren(...model.figures.map(([what, value, hint, best]) => {
      const figure = element("span", "")
      figure.title = hint
      element("span", "what", figure).textContent = what
      element("span", best ? "best" : "", figure).textContent = value
      return figure
    }))
    figures.style.display = model.figures.length ? "" : "none"
    glass.setAttribute("aria-label", `Map: ${model.heading}`)
    plate.className = `plate ${model.state}`
    plate.style.aspectRatio = model.shape
    cover.style.display = model.state === "drawn" ? "none" : ""
    words.textContent = model.message
    words.setAttribute("role", model.state === "failed" ? "alert" : "none")
    bar.style.width = model.state === "waiting" ? `${100 * model.fraction}%` : "0"
  }

  const read = () => {
    places = new Float32Array(model.places ?? new ArrayBuffer(0))
    rows = new Int32Array(model.rows ?? new ArrayBuffer(0))
    index = null
  }

  const draw_links = (pen, buffer, color, faint) => {
    const ends = new Uint32Array(buffer ?? new ArrayBuffer(0))
    if (!ends.length) {
      return
    }
    pen.beginPath()
    for (let at = 0; at < ends.length; at += 2) {
      pen.moveTo(projection.x(places[2 * ends[at]]), projection.y(places[2 * ends[at] + 1]))
      pen.lineTo(projection.x(places[2 * ends[at + 1]]), projection.y(places[2 * ends[at + 1] + 1]))
    }
    pen.globalAlpha = faint
    pen.strokeStyle = color
    pen.lineWidth = 0.7
    pen.stroke()
    pen.globalAlpha = 1
  }

  const draw = () => {
    if (!paper.clientWidth || !paper.clientHeight) {
      return
    }
    projection = new Projection(model.extent, paper.clientWidth, paper.clientHeight)
    const pen = clear(paper)
    if (model.state === "drawn") {
      if (picture) {
        const [width, height] = projection.size
        pen.drawImage(picture, projection.x(0), projection.y(0) - height, width, height)
      }
      const links = (model.links?.byteLength ?? 0) / 8
      draw_links(pen, model.links, EDGE, Math.min(0.7, Math.max(0.06, 1500 / (links || 1))))
      draw_links(pen, model.wrong_links, WRONG, 0.75)
      const codes = new Uint8Array(model.codes ?? new ArrayBuffer(0))
      const radius = model.size / 2
      pen.strokeStyle = model.outline
      pen.lineWidth = 0.5
      for (let at = rows.length - model.shown; at < rows.length; at++) {
        const [x, y] = [projection.x(places[2 * at]), projection.y(places[2 * at + 1])]
        const diamond = at >= rows.length - model.marked
        pen.beginPath()
        if (diamond) {
          const reach = Math.max(1.3 * radius, 3.5)
          pen.moveTo(x, y - reach)
          pen.lineTo(x + reach, y)
          pen.lineTo(x, y + reach)
          pen.lineTo(x - reach, y)
          pen.closePath()
          pen.strokeStyle = model.ink
          pen.lineWidth = 1
        } else {
          pen.arc(x, y, radius, 0, 7)
        }
        pen.fillStyle = model.colors[codes[at]]
        pen.fill()
        // Small ones would be all outline.
        if (diamond || radius > 2) {
          pen.stroke()
        }
      }
    }
    draw_above()
  }

  const draw_above = () => {
    if (!projection || !glass.clientWidth) {
      return
    }
    const pen = clear(glass)
    tip.hidden = true
    if (model.state !== "drawn") {
      return
    }
    pen.strokeStyle = ACCENT
    pen.globalAlpha = 0.55
    pen.lineWidth = 1
    pen.beginPath()
    const {rings, lines} = document.wattfold_marks?.[model.key] ?? {rings: [], lines: []}
    for (const [x0, y0, x1, y1] of lines) {
      pen.moveTo(projection.x(x0), projection.y(y0))
      pen.lineTo(projection.x(x1), projection.y(y1))
    }
    pen.stroke()
    pen.globalAlpha = 1
    for (const [x, y, radius] of rings) {
      ring(pen, projection.x(x), projection.y(y), radius, radius > 5 ? 2.2 : 1.6)
    }
    if (hovered !== null) {
      index ??= new Map(Array.from(rows, (row, at) => [row, at]))
      const at = index.get(hovered.row)
      if (at !== undefined) {
        const [x, y] = [projection.x(places[2 * at]), projection.y(places[2 * at + 1])]
        ring(pen, x, y, 5, 1.8)
        if (hovered.on === me) {
          tell(model.names[at], x, y)
        }
      }
    }
  }

  const tell = (text, x, y) => {
    tip.textContent = text
    tip.hidden = false
    const left = Math.min(Math.max(2, x - tip.offsetWidth / 2), plate.clientWidth - tip.offsetWidth - 2)
    tip.style.left = `${Math.max(2, left)}px`
    tip.style.top = `${y > 30 ? y - 27 : y + 10}px`
  }

  const nearest = (event) => {
    let found = null
    let least = REACH * REACH
    for (let at = 0; at < rows.length; at++) {
      const across = projection.x(places[2 * at]) - event.offsetX
      const up = projection.y(places[2 * at + 1]) - event.offsetY
      const apart = across * across + up * up
      if (apart <= least) {
        found = rows[at]
        least = apart
      }
    }
    return found
  }

  const hover = (row) => {
    if (row !== (hovered?.row ?? null) || (row !== null && hovered.on !== me)) {
      const detail = row === null ? null : {row, on: me}
      document.dispatchEvent(new CustomEvent(HOVER, {detail}))
    }
  }

  const follow = (event) => {
    hovered = event.detail
    draw_above()
  }

  let planned = false
  const plan = () => {
    if (!planned) {
      planned = true
      requestAnimationFrame(() => {
        planned = false
        read()
        draw()
      })
    }
  }

  const load = async () => {
    const content = model.image
    picture = content?.byteLength ? await createImageBitmap(new Blob([content])) : null
    plan()
  }

  open.addEventListener("click", () => model.send_msg({open: true}))
  glass.addEventListener("pointermove", (event) => {
    if (model.state === "drawn" && projection) {
      hover(nearest(event))
    }
  })
  glass.addEventListener("pointerleave", () => hover(null))
  glass.addEventListener("click", (event) => {
    if (model.state === "drawn" && projection) {
      const reach = REACH / projection.scale
      model.send_msg({tap: [...projection.back(event.offsetX, event.offsetY), reach]})
    }
  })
  document.addEventListener(HOVER, follow)
  document.addEventListener(MARKS, draw_above)
  const sizes = new ResizeObserver(plan)
  sizes.observe(plate)
  model.on("remove", () => {
    document.removeEventListener(HOVER, follow)
    document.removeEventListener(MARKS, draw_above)
    sizes.disconnect()
  })
  for (const name of ["heading", "hint", "opens", "figures", "state", "message", "fraction", "shape"]) {
    model.on(name, write)
  }
  for (const name of ["extent", "places", "codes", "colors", "shown", "marked", "state", "links"]) {
    model.on(name, plan)
  }
  model.on("image", load)
  write()
  load()
  return card
}
