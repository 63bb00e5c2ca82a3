import { Button, NativeSelect, NumberInput, TextInput } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import type { SettingsEdit } from '@hedgerow/contract/device-interface'
import { focusFirstError } from '@hedgerow/ui/focus-first-error.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { UnsavedGuard } from '@hedgerow/ui/unsaved-guard.tsx'
import { useVisitor } from '../session.ts'
import { elsewhere, errorAt, groupIn, untold, useChangeSettings, useSettings, type Settings } from '../settings.ts'
import { FilePassword, useFilePassword } from './file-password.tsx'
import styles from './form.module.css'

type Value = SettingsEdit['value']

/** A value of gateway.yaml. An empty field deletes it, so that `usual` holds. */
export type Field = {
  path: readonly [string, ...string[]]
  label: string
  description?: string
  /** `list`: texts with commas between. */
  kind: 'text' | 'number' | 'list' | readonly (readonly [value: string, words: string])[]
  /** What holds when the file has none, in words. */
  usual?: string
}

type SettingsPanelProps = {
  title: string
  lead?: ReactNode
  fields: readonly Field[]
  /** Groups that go when all their fields are empty, outer ones first. */
  groups?: readonly (readonly string[])[]
}

/** A small form for some values of gateway.yaml, for people who may manage. */
export function SettingsPanel(props: SettingsPanelProps) {
  const { mayManage } = useVisitor()
  const query = useSettings(mayManage)
  if (query.data === undefined) return null
  return <Form {...props} settings={query.data} />
}

function Form({ title, lead, fields, groups = [], settings }: SettingsPanelProps & { settings: Settings }) {
  /** What a person typed, by the number of the field. */
  const [typed, setTyped] = useState<Readonly<Record<number, string>>>({})
  const change = useChangeSettings()
  const password = useFilePassword()
  const before = fields.map((field) => textOf(valueIn(settings, field)))
  const texts = before.map((text, index) => typed[index] ?? text)
  const isIn = (group: readonly string[]) => (field: Field) => group.every((key, at) => field.path[at] === key)
  const groupOf = (field: Field) =>
    groups.find((group) => isIn(group)(field) && fields.every((each, at) => !isIn(group)(each) || texts[at] === ''))
  const changed = fields.flatMap((field, index) =>
    texts[index] === before[index]
      ? []
      : [{ path: [...(groupOf(field) ?? field.path)], ...valueOf(field, texts[index]!) }],
  )
  const edits = changed.filter(
    ({ path }, index) => changed.findIndex((other) => other.path.join() === path.join()) === index,
  )
  const isChanged = edits.length > 0
  const paths = fields.map(({ path }) => path.join('.'))
  const notices = untold(
    change.error,
    (path) => paths.some((own) => `${path}.`.startsWith(`${own}.`)),
    (path) => (paths.some((own) => own.startsWith(`${path}.`)) ? undefined : elsewhere(path)),
  )
  return (
    <Panel title={title}>
      <form
        className={`${styles.form} ${styles.inPanel}`}
        onSubmit={(event) => {
          event.preventDefault()
          const form = event.currentTarget
          change.mutate(
            { edits, hash: settings.hash, ...password.given },
            {
              // What somebody typed meanwhile stays.
              onSuccess: () =>
                setTyped((now) =>
                  Object.fromEntries(Object.entries(now).filter(([index, text]) => typed[Number(index)] !== text)),
                ),
              onError: () => focusFirstError(form),
            },
          )
        }}
      >
        <UnsavedGuard unsaved={isChanged && !change.isPending} />
        {lead !== undefined && <p className={styles.quiet}>{lead}</p>}
        {fields.map((field, index) => (
          <Input
            key={field.path.join('.')}
            field={field}
            text={texts[index]!}
            error={errorAt(change.error, [...field.path])}
            onChange={(text) => setTyped({ ...typed, [index]: text })}
          />
        ))}
        {notices.map((sentence) => (
          <Notice key={sentence} tone="danger">
            {sentence}
          </Notice>
        ))}
        {isChanged && <FilePassword {...password} />}
        <div className={styles.buttons}>
          <Button type="submit" loading={change.isPending} disabled={!isChanged || password.isMissing}>
            Save
          </Button>
          <Button variant="default" disabled={!isChanged} onClick={() => setTyped({})}>
            Undo all changes
          </Button>
        </div>
      </form>
    </Panel>
  )
}

type InputProps = { field: Field; text: string; error: string | undefined; onChange: (text: string) => void }

function Input({ field: { label, description, kind, usual }, text, error, onChange }: InputProps) {
  const common = { label, description, error }
  if (kind === 'number')
    return (
      <NumberInput
        {...common}
        hideControls
        placeholder={usual}
        value={text}
        onChange={(value) => onChange(String(value))}
      />
    )
  if (kind === 'text' || kind === 'list')
    return (
      <TextInput
        {...common}
        placeholder={usual}
        value={text}
        maxLength={1_000}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    )
  const options = kind.map(([value, words]) => ({ value, label: words }))
  return (
    <NativeSelect
      {...common}
      data={options.some(({ value }) => value === text) ? options : [...options, { value: text, label: text }]}
      value={text}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

function valueIn({ settings }: Settings, { path }: Field): unknown {
  return groupIn(settings, ...path.slice(0, -1))[path.at(-1)!]
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return Array.isArray(value) ? value.join(', ') : String(value)
}

/** No value for an empty field. */
function valueOf({ kind }: Field, text: string): { value?: Value } {
  const trimmed = text.trim()
  if (trimmed === '') return {}
  if (kind === 'number') return { value: Number(trimmed) }
  if (kind === 'list') return { value: trimmed.split(',').flatMap((each) => each.trim() || []) }
  return { value: trimmed === 'true' || trimmed === 'false' ? trimmed === 'true' : trimmed }
}
