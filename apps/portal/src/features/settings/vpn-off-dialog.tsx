import { Button, TextInput } from '@mantine/core'
import { useState, type FormEvent } from 'react'
import { useGateways } from '#api/gateways.ts'
import { OutcomeList } from '#parts/outcome-list.tsx'
import { Dialog, DialogActions, useDialogLife } from '@hedgerow/ui/dialog.tsx'
import { cutOff } from './messages.ts'

type VpnOffDialogProps = { hubName: string; onConfirm: () => void; onGone: () => void }

/** Says whom it cuts off, and saves after the hub's name is typed, so that a wrong click cannot. */
export default function VpnOffDialog({ hubName, onConfirm, onGone }: VpnOffDialogProps) {
  const life = useDialogLife(onGone)
  const gateways = useGateways().data ?? []
  const [typed, setTyped] = useState('')
  const matches = typed.trim() === hubName
  const submit = (event: FormEvent) => {
    event.preventDefault()
    // The form of the settings is around this one.
    event.stopPropagation()
    if (!matches) return
    life.onClose()
    onConfirm()
  }
  return (
    <Dialog title="Switch the VPN off?" {...life}>
      <form onSubmit={submit} noValidate>
        <p>{cutOff(gateways)}</p>
        <OutcomeList
          words={`${gateways.length} ${gateways.length === 1 ? 'gateway' : 'gateways'}`}
          outcomes={new Map()}
          items={gateways.map(({ id, name, location }) => ({ key: id, name, detail: location }))}
        />
        <TextInput
          label={`Type “${hubName}” to confirm`}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          data-autofocus
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <DialogActions onCancel={life.onClose}>
          <Button type="submit" color="red" disabled={!matches}>
            Switch off
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
