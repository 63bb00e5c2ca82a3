import type { KnownToProtect } from '@hedgerow/contract'
import { protectionLine, protectionOf, protectionTone, protectionWord } from '@hedgerow/contract/protection'
import { StateChip } from '@hedgerow/ui/state-chip.tsx'

/** Whether the device, or a camera or deterrent that is alone in `heartbeat`, protects now, as a sentence. */
export function ProtectionChip({ heartbeat }: Pick<KnownToProtect, 'heartbeat'>) {
  const protection = protectionOf({ isOffline: false, heartbeat })
  return (
    <StateChip
      tone={protectionTone(protection.state)}
      word={protectionWord(protection.state)}
      until={protection.until}
      line={(now) => {
        const words = protectionLine(protection, now)
        return { words, title: words }
      }}
      isFull
    />
  )
}
