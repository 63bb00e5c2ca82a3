import type { Gateway } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { useCallback, useState } from 'react'
import { MANAGER_NEEDED } from '#api/roles.ts'
import { DownloadIcon } from '@hedgerow/ui/icons.tsx'
import { Reasoned } from '@hedgerow/ui/reasoned-button.tsx'
import { saveFile } from '@hedgerow/ui/save-file.ts'
import { StickyBar } from '@hedgerow/ui/sticky-bar.tsx'
import type { OpenDialog } from '../dialogs/dialogs.tsx'
import { gatewaysAsCsv } from './csv.ts'

/** The ids of the selected gateways. Both functions are stable. */
export function useSelection() {
  const [selection, setSelection] = useState<ReadonlySet<string>>(new Set())
  const select = useCallback((id: string, wanted: boolean) => {
    setSelection((before) => {
      const next = new Set(before)
      if (wanted) next.add(id)
      else next.delete(id)
      return next
    })
  }, [])
  const selectOnly = useCallback((ids: readonly string[]) => setSelection(new Set(ids)), [])
  return { selection, select, selectOnly }
}

type SelectionBarProps = {
  selected: readonly Gateway[]
  shown: readonly Gateway[]
  mayManage: boolean
  onSelectOnly: (ids: readonly string[]) => void
  onDialog: (dialog: OpenDialog) => void
}

/** The actions of the selected gateways, while there are any. */
export function SelectionBar({ selected, shown, mayManage, onSelectOnly, onDialog }: SelectionBarProps) {
  if (selected.length === 0) return null
  const exportCsv = () => saveFile(new Blob([gatewaysAsCsv(selected)], { type: 'text/csv' }), 'gateways.csv')
  return (
    <StickyBar text={`${selected.length.toLocaleString()} selected`}>
      {selected.length < shown.length && (
        <Button size="compact-sm" variant="subtle" onClick={() => onSelectOnly(shown.map(({ id }) => id))}>
          Select all {shown.length.toLocaleString()}
        </Button>
      )}
      <Button size="compact-sm" variant="subtle" onClick={() => onSelectOnly([])}>
        Clear selection
      </Button>
      <Button size="compact-sm" variant="default" leftSection={<DownloadIcon />} onClick={exportCsv}>
        Export CSV
      </Button>
      <Reasoned reason={mayManage ? undefined : MANAGER_NEEDED}>
        {(refusal) => (
          <>
            <Button
              size="compact-sm"
              variant="default"
              onClick={() => onDialog({ verb: 'edit-several', gateways: selected })}
              {...refusal}
            >
              Edit selected
            </Button>
            <Button
              size="compact-sm"
              variant="default"
              onClick={() => onDialog({ verb: 'tag-several', gateways: selected })}
              {...refusal}
            >
              Tag selected
            </Button>
            <Button
              size="compact-sm"
              variant="default"
              onClick={() => onDialog({ verb: 'place-several', gateways: selected })}
              {...refusal}
            >
              Put in a site
            </Button>
          </>
        )}
      </Reasoned>
      {mayManage && (
        <Button
          size="compact-sm"
          variant="default"
          color="red"
          onClick={() => onDialog({ verb: 'delete-several', gateways: selected })}
        >
          Delete selected
        </Button>
      )}
    </StickyBar>
  )
}
