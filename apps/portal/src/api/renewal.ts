import { renewSession } from 'virtual:contract-calls'
import { api } from './client.ts'
import { readToken, writeToken } from './token.ts'

/** Well below half of the shortest session timeout that the settings allow (60 s). */
const RENEW_AFTER_MS = 25_000
const SIGNS_OF_LIFE = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchmove'] as const

/**
 * Renews the access token while the person uses the page. Only input counts: background polling must not keep the
 * session of an absent person alive. Returns a function that stops it.
 */
export function renewWhileActive(): () => void {
  let renewedAtMs = performance.now()
  const renew = async () => {
    const before = readToken()
    try {
      const { accessToken } = await api(renewSession, {})
      if (readToken() === before) writeToken(accessToken)
    } catch (error) {
      console.warn('The session was not renewed:', error)
    }
  }
  const onInput = () => {
    if (performance.now() - renewedAtMs < RENEW_AFTER_MS) return
    renewedAtMs = performance.now()
    void renew()
  }
  for (const name of SIGNS_OF_LIFE) window.addEventListener(name, onInput, { passive: true, capture: true })
  return () => {
    for (const name of SIGNS_OF_LIFE) window.removeEventListener(name, onInput, { capture: true })
  }
}
