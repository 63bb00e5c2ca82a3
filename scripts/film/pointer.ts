/**
 * Runs inside every page that is filmed: an arrow above everything, which follows the `film` events of the camera
 * ({x, y} in CSS pixels, {p} how far a click's ring has spread, 0 for none). It takes no pointer events itself.
 */
export function drawPointer(): void {
  if (window.top !== window) return
  const host = document.createElement('div')
  host.setAttribute('aria-hidden', 'true')
  host.style.cssText = 'position:fixed;left:0;top:0;width:0;height:0;z-index:2147483647;pointer-events:none'
  host.innerHTML = `<svg width="80" height="80" viewBox="-40 -40 80 80"
      style="position:absolute;left:-40px;top:-40px;overflow:visible">
    <circle r="0" fill="none" stroke="#f2b544" stroke-width="3"/>
    <path d="M0 0v19.500l4.700-4.500 3 7 3.300-1.400-3-6.900h6.500z" fill="#14201c" stroke="#fff" stroke-width="1.600"
      stroke-linejoin="round"/>
  </svg>`
  const ring = host.querySelector('circle')
  addEventListener('film', (event) => {
    const { x, y, p } = (event as CustomEvent<{ x: number; y: number; p: number }>).detail
    if (!host.isConnected) document.documentElement.append(host)
    host.style.transform = `translate(${x}px,${y}px)`
    ring?.setAttribute('r', String(p * 18))
    ring?.setAttribute('opacity', p === 0 ? '0' : String(1.15 - p))
  })
}
