import { Button, NativeSelect, NumberInput, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { CameraChange, CameraSettings } from '@hedgerow/contract/device-interface'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { messageOf } from '../calls.ts'
import { FilePassword, useFilePassword } from '../parts/file-password.tsx'
import { problemOf, rowsOf, valuesOf, type LabelRow } from '../parts/label-rows.ts'
import { useChangeCamera } from '../queries.ts'
import styles from './camera.module.css'

type LabelSettingsProps = { name: string; settings: CameraSettings; mayChange: boolean }

const REGIONS = [
  { value: '0', label: 'the whole picture only' },
  { value: '1', label: 'one square around what moves' },
  { value: '2', label: 'two squares around what moves (usual)' },
  { value: '3', label: 'three squares' },
  { value: '4', label: 'four squares' },
]

const FIELDS = [
  { key: 'score', label: 'Lowest score, %', max: 100 },
  { key: 'minimumArea', label: 'Smallest, % of the picture', max: 100 },
  { key: 'maximumArea', label: 'Largest, % of the picture', max: 100 },
  { key: 'minimumShape', label: 'Narrowest, width / height', max: 100 },
  { key: 'maximumShape', label: 'Widest, width / height', max: 100 },
] as const

/** Where a model looks, and the score, size and shape that an object must have, by label. Nothing of it must be set. */
export function LabelSettings({ name, settings, mayChange }: LabelSettingsProps) {
  const before = rowsOf(settings)
  const [rows, setRows] = useState(before)
  const [regions, setRegions] = useState(settings.regions)
  const change = useChangeCamera(name)
  const password = useFilePassword()
  const values = valuesOf(rows)
  const problem = problemOf(rows)
  const changed: CameraChange = {
    ...(regions !== settings.regions && { regions }),
    ...(JSON.stringify(values.scores) !== JSON.stringify(settings.scores) && { scores: values.scores }),
    ...(JSON.stringify(values.sizes) !== JSON.stringify(settings.sizes) && { sizes: values.sizes }),
  }
  const isChanged = Object.keys(changed).length > 0
  const replace = (index: number, part: Partial<LabelRow>) =>
    setRows(rows.map((row, at) => (at === index ? { ...row, ...part } : row)))
  return (
    <Panel title="Labels and sizes">
      <div className={styles.side}>
        <NativeSelect
          label="A model looks at"
          data={REGIONS}
          value={String(regions)}
          disabled={!mayChange}
          onChange={(event) => setRegions(Number(event.currentTarget.value))}
        />
        {rows.length === 0 && (
          <p className={styles.quiet}>Each label has the score that was measured for the model, and any size.</p>
        )}
        {rows.map((row, index) => (
          <fieldset key={row.key} className={styles.label}>
            <legend>{row.label === '' ? 'New label' : row.label}</legend>
            <TextInput
              label="Label, or animal for any animal"
              value={row.label}
              maxLength={100}
              disabled={!mayChange}
              onChange={(event) => replace(index, { label: event.currentTarget.value })}
            />
            {FIELDS.map(({ key, label, max }) => (
              <NumberInput
                key={key}
                label={label}
                value={row[key] ?? ''}
                min={0}
                max={max}
                decimalScale={2}
                disabled={!mayChange}
                onChange={(value) => replace(index, { [key]: typeof value === 'number' ? value : undefined })}
              />
            ))}
            {mayChange && (
              <Button variant="default" size="compact-sm" onClick={() => setRows(rows.filter((_, at) => at !== index))}>
                Remove {row.label === '' ? 'the new label' : row.label}
              </Button>
            )}
          </fieldset>
        ))}
        {mayChange && (
          <>
            <div className={styles.buttons}>
              <Button
                variant="default"
                size="compact-sm"
                onClick={() => setRows([...rows, { key: `new ${rows.length} ${Date.now()}`, label: '' }])}
              >
                Add a label
              </Button>
            </div>
            {isChanged && <FilePassword {...password} />}
            {problem !== undefined && <Notice tone="warning">{problem}</Notice>}
            {change.error !== null && <Notice tone="danger">{messageOf(change.error)}</Notice>}
            <div className={styles.buttons}>
              <Button
                loading={change.isPending}
                disabled={!isChanged || problem !== undefined || password.isMissing}
                onClick={() =>
                  change.mutate(
                    { change: changed, hash: settings.hash, ...password.given },
                    { onSuccess: () => void toast('Saved. It is active.') },
                  )
                }
              >
                Save labels
              </Button>
              <Button
                variant="default"
                disabled={!isChanged}
                onClick={() => {
                  setRows(before)
                  setRegions(settings.regions)
                }}
              >
                Undo labels
              </Button>
            </div>
          </>
        )}
      </div>
    </Panel>
  )
}
