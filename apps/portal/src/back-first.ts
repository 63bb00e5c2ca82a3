/**
 * An open dialog hears of Back before the router does, and may keep it: the window tells its listeners in their order.
 */
export function offerBackToDialogs(): void {
  window.addEventListener('popstate', (event) => {
    const offer = new CustomEvent('hub:back', { cancelable: true, detail: event.state })
    if (!window.dispatchEvent(offer)) event.stopImmediatePropagation()
  })
}
