/** Addresses of clips for a `<video>` or a download, which send no header. Each is for one clip and one session. */
import { randomBytes } from 'node:crypto'
import { CLIP_LINK_LIFETIME_MS } from '@hedgerow/contract'
import { HubError } from '../kernel/hub-error.ts'

const LINKS_MAX = 5_000
const PER_SESSION_MAX = 100
const LINK_BYTES = 32

export type ClipLink = { gatewayId: string; detectionId: string; sessionId: string; expiresAt: number }

export type ClipLinks = {
  make(clip: Pick<ClipLink, 'gatewayId' | 'detectionId' | 'sessionId'>): { link: string; expiresAt: number }
  /** Throws `clip_link_invalid`. */
  find(link: string): ClipLink
}

export function createClipLinks({ clock }: { clock: () => number }): ClipLinks {
  /** In the order in which they were made. */
  const links = new Map<string, ClipLink>()

  return {
    make(clip) {
      const now = clock()
      for (const [link, { expiresAt }] of links) if (expiresAt <= now) links.delete(link)
      const own = [...links].filter(([, { sessionId }]) => sessionId === clip.sessionId)
      for (const [link] of own.slice(0, Math.max(0, own.length - PER_SESSION_MAX + 1))) links.delete(link)
      for (const oldest of links.keys()) {
        if (links.size < LINKS_MAX) break
        links.delete(oldest)
      }
      const link = randomBytes(LINK_BYTES).toString('base64url')
      const expiresAt = now + CLIP_LINK_LIFETIME_MS
      links.set(link, { ...clip, expiresAt })
      return { link, expiresAt }
    },
    find(link) {
      const found = links.get(link)
      if (!found || found.expiresAt <= clock()) throw new HubError('clip_link_invalid')
      return found
    },
  }
}
