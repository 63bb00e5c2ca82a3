/** A certificate's status by its expiry. Pure. */
const DAY_MS = 86_400_000
const WARNED_DAYS = 30

export type CertificateStatus = { word: 'Expired' | 'Expiring' | 'Valid'; reason: string }

export function certificateStatus(expiresAt: string, nowMs: number): CertificateStatus {
  const leftMs = Date.parse(expiresAt) - nowMs
  if (leftMs < 0) return { word: 'Expired', reason: '' }
  if (leftMs >= WARNED_DAYS * DAY_MS) return { word: 'Valid', reason: '' }
  const days = Math.floor(leftMs / DAY_MS)
  return {
    word: 'Expiring',
    reason: days === 0 ? 'less than a day left' : `${days} ${days === 1 ? 'day' : 'days'} left`,
  }
}
