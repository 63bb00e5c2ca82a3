import { Button, NativeSelect } from '@mantine/core'
import type { DeterrentKind, FoundOutput } from '@hedgerow/contract/deterrent-setup'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { DeviceError, messageOf } from '../calls.ts'
import type { useReadOutputs } from '../deterrent-queries.ts'
import type { Draft } from './deterrent-draft.ts'
import { labelOf } from './driver-fields.tsx'
import styles from './form.module.css'

type ConnectionProps = {
  kind: DeterrentKind
  outputs: ReturnType<typeof useReadOutputs>
  values: Draft['values']
  isMissing: boolean
  onChoose: (output: FoundOutput) => void
}

/** Asks the device what it can switch, and lets a person choose. */
export function Connection({ kind, outputs, values, isMissing, onChoose }: ConnectionProps) {
  const { data, error, isPending } = outputs
  const isChosen = ({ settings }: FoundOutput) =>
    Object.entries(settings).every(([key, value]) => values[key] === String(value))
  const chosen = data?.findIndex(isChosen) ?? -1
  const isOther = error !== null && !(error instanceof DeviceError && Object.keys(error.fieldErrors).length > 0)
  return (
    <>
      <div className={styles.buttons}>
        <Button type="submit" variant="default" loading={isPending} disabled={isMissing}>
          Connect
        </Button>
      </div>
      {isOther && <Notice tone="danger">{messageOf(error)}</Notice>}
      {data?.length === 0 && <Notice tone="warning">The device names nothing that it can switch.</Notice>}
      {data !== undefined && data.length > 0 && (
        <NativeSelect
          label="What it switches"
          data={[
            ...(chosen < 0 ? [{ value: '-1', label: 'Choose' }] : []),
            ...data.map((output, at) => ({ value: String(at), label: outputInWords(kind, output) })),
          ]}
          value={String(chosen)}
          onChange={(event) => {
            const output = data[Number(event.currentTarget.value)]
            if (output) onChoose(output)
          }}
        />
      )}
    </>
  )
}

function outputInWords({ outputKeys: [key = ''] }: DeterrentKind, { name, isOn, settings }: FoundOutput): string {
  const number = `${labelOf(key)} ${settings[key]}`
  return [name === '' ? number : `${number}: ${name}`, ...(isOn === null ? [] : [isOn ? 'on now' : 'off now'])].join(
    ', ',
  )
}
