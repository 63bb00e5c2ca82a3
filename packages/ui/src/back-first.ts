/**
 * Offers Back to an open dialog before the router sees it. This works because listeners run in the order of their
 * registration.
 */
export function offerBackToDialogs(): void {
  window.addEventListener('popstate', (event) => {
    const offer = new CustomEvent('hub:back', { cancelable: true, detail: event.state })
    if (!window.dispatchEvent(offer)) event.stopImmediatePropagation()
  })
}
