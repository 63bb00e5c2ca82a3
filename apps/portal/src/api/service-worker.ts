/** The service worker: an offline notice, and push messages. Browsers have none on plain http, except on localhost. */
export const SERVICE_WORKER = '/service-worker.js'

/** Starts the service worker, or a newer one after an update of the hub. */
export function startServiceWorker(): void {
  if (!('serviceWorker' in navigator)) return
  navigator.serviceWorker.register(SERVICE_WORKER, { scope: '/', updateViaCache: 'none' }).catch((error: unknown) => {
    // For example with a certificate that the browser does not trust. The portal works without it.
    console.info('The service worker did not start:', error)
  })
}

/** The number on the icon of the installed portal. */
export function showBadge(count: number): void {
  if (!('setAppBadge' in navigator)) return
  void (count === 0 ? navigator.clearAppBadge() : navigator.setAppBadge(count)).catch(() => undefined)
}

/** Tells the service worker since when the hub does not answer this page, for a reload; null: it answers. */
export function postLostSince(lostSince: number | null): void {
  if ('serviceWorker' in navigator) navigator.serviceWorker.controller?.postMessage({ lostSince })
}
