import { Button } from '@mantine/core'
import { StickyBar } from '@hedgerow/ui/sticky-bar.tsx'

type SaveBarProps = { unsaved: boolean; saving: boolean; onDiscard: () => void }

/** Below settings that are saved together. */
export function SaveBar({ unsaved, saving, onDiscard }: SaveBarProps) {
  return (
    <StickyBar yields text={unsaved ? 'Some changes are not saved.' : ''}>
      <Button variant="default" disabled={!unsaved || saving} onClick={onDiscard}>
        Discard
      </Button>
      <Button type="submit" loading={saving}>
        Save Settings
      </Button>
    </StickyBar>
  )
}
