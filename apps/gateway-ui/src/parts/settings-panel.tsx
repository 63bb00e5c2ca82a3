import { Button, NativeSelect, NumberInput, TextInput } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { focusFirstError } from '@hedgerow/ui/focus-first-error.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { PasswordField } from '@hedgerow/ui/password-field.tsx'
import { TickBox } from '@hedgerow/ui/tick-box.tsx'
import { UnsavedGuard } from '@hedgerow/ui/unsaved-guard.tsx'
import { useVisitor } from '../session.ts'
import { elsewhere, errorAt, untold, useChangeSettings, useSettings, type Settings } from '../settings.ts'
import { FilePassword, useFilePassword } from './file-password.tsx'
import styles from './form.module.css'
import { editsOf, textOf, valueIn, type Field, type Typed } from './settings-draft.ts'

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
  return <Form {...props} settings={query.data} isReading={query.isFetching} />
}

type FormProps = SettingsPanelProps & {
  settings: Settings
  /** The file is read again, as after another form's save: with the hash of before, a save would be refused. */
  isReading: boolean
}

function Form({ title, lead, fields, groups = [], settings, isReading }: FormProps) {
  const [typed, setTyped] = useState<Typed>({})
  const change = useChangeSettings()
  const password = useFilePassword()
  const edits = editsOf(fields, groups, settings.settings, typed)
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
            before={valueIn(settings.settings, field)}
            typed={typed[index]}
            error={errorAt(change.error, [...field.path])}
            onChange={(now) => setTyped({ ...typed, [index]: now })}
          />
        ))}
        {notices.map((sentence) => (
          <Notice key={sentence} tone="danger">
            {sentence}
          </Notice>
        ))}
        {isChanged && <FilePassword {...password} />}
        <div className={styles.buttons}>
          <Button
            type="submit"
            loading={change.isPending || (isReading && isChanged)}
            disabled={!isChanged || password.isMissing}
          >
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

type InputProps = {
  field: Field
  /** The value in the file. */
  before: unknown
  typed: Typed[number] | undefined
  error: string | undefined
  onChange: (typed: string | null) => void
}

function Input({ field, before, typed, error, onChange }: InputProps) {
  const { label, description, kind, usual } = field
  const text = typed === undefined ? textOf(field, before) : (typed ?? '')
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
  if (kind === 'secret')
    return (
      <div className={styles.group}>
        <PasswordField
          {...common}
          description={`${description ?? ''} \${NAME} stands for a variable of the agent.`.trim()}
          showLabel={`Show: ${label}`}
          placeholder={before === undefined ? 'none' : 'Empty: it stays as it is'}
          autoComplete="off"
          value={text}
          disabled={typed === null}
          maxLength={1_000}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
        {before !== undefined && (
          <TickBox
            checked={typed === null}
            onChange={(isRemoved) => onChange(isRemoved ? null : textOf(field, before))}
          >
            Remove: {label}
          </TickBox>
        )}
      </div>
    )
  if (typeof kind === 'string')
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
