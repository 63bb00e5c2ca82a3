import { autoApprovalSettings, type AutoApprovalSettings } from '@hedgerow/contract'
import { Switch, TextInput } from '@mantine/core'
import { useRef, useState, type FormEvent } from 'react'
import { ApiError, messageOf } from '#api/client.ts'
import { useDraft } from '#api/drafts.ts'
import { follow, sameValue } from '#parts/follow.ts'
import { useNamedField } from '#parts/named-field.ts'
import { SaveBar } from '#parts/save-bar.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { UnsavedGuard } from '@hedgerow/ui/unsaved-guard.tsx'
import { consequencesOf } from './consequences.ts'
import { addEntry, type EntryKind } from './entries.ts'
import { EntryList } from './entry-list.tsx'
import { SAVED, saveFailed } from './messages.ts'
import { useSaveAutoApprovalSettings } from './queries.ts'
import styles from './page.module.css'

const SWITCHES = [
  ['enabled', 'Auto-approval', 'When off, every device waits for a person.'],
  [
    'requireAdminApproval',
    'Trusted networks still wait for a person',
    'When on, a device from the lists below also waits, marked as coming from a trusted network.',
  ],
  [
    'autoApproveWithInvitation',
    'Approve with a valid invitation',
    'When on, a device with the code of a gateway invitation is approved, from any address.',
  ],
] as const

const LISTS: Record<EntryKind, 'ipWhitelist' | 'networkRanges'> = { ip: 'ipWhitelist', range: 'networkRanges' }
const NOTHING_TYPED: Record<EntryKind, { text: string; problem?: string }> = { ip: { text: '' }, range: { text: '' } }

/** The switches, both lists and the email, saved together. */
export function SettingsForm({ saved, mayChange }: { saved: AutoApprovalSettings; mayChange: boolean }) {
  const save = useSaveAutoApprovalSettings()
  const [basis, setBasis] = useState(saved)
  const [values, setValues] = useState(saved)
  const [typed, setTyped] = useState(NOTHING_TYPED)
  const [emailProblem, setEmailProblem] = useState<string | undefined>()
  const form = useRef<HTMLFormElement>(null)
  useNamedField(form)
  if (basis !== saved) {
    // The settings were reloaded.
    setBasis(saved)
    setValues(follow(values, basis, saved))
  }
  const unsaved = !sameSettings(values, saved) || typed.ip.text.trim() !== '' || typed.range.text.trim() !== ''

  useDraft('auto-approval', unsaved ? { values, typed } : undefined, (was) => {
    setValues(was.values)
    setTyped(was.typed)
  })

  const add = (from: AutoApprovalSettings, kind: EntryKind): AutoApprovalSettings | undefined => {
    const { list, problem } = addEntry(from[LISTS[kind]], typed[kind].text, kind)
    setTyped((all) => ({ ...all, [kind]: problem === undefined ? { text: '' } : { text: all[kind].text, problem } }))
    return problem === undefined ? { ...from, [LISTS[kind]]: list } : undefined
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    // Typed entries that were not added yet are saved too.
    const withIp = add(values, 'ip')
    const complete = withIp && add(withIp, 'range')
    if (complete === undefined) return
    setValues(complete)
    const wrong = autoApprovalSettings.shape.notificationEmail.safeParse(complete.notificationEmail)
    setEmailProblem(wrong.error === undefined ? undefined : 'Enter an email address')
    if (!wrong.success) return
    try {
      const answer = await save.mutateAsync({ settings: complete, seen: saved })
      setValues((now) => follow(now, complete, answer))
      void toast(SAVED)
    } catch (error) {
      if (error instanceof ApiError) setEmailProblem(error.fieldErrors['notificationEmail'])
    }
  }
  const discard = () => {
    setValues(saved)
    setTyped(NOTHING_TYPED)
    setEmailProblem(undefined)
    save.reset()
  }
  const entryList = (kind: EntryKind, label: string, example: string) => (
    <EntryList
      label={label}
      example={example}
      entries={values[LISTS[kind]]}
      text={typed[kind].text}
      problem={typed[kind].problem}
      disabled={!mayChange}
      onType={(text) => setTyped((all) => ({ ...all, [kind]: { text } }))}
      onAdd={() => {
        const next = add(values, kind)
        if (next !== undefined) setValues(next)
      }}
      onRemove={(entry) =>
        setValues({ ...values, [LISTS[kind]]: values[LISTS[kind]].filter((existing) => existing !== entry) })
      }
    />
  )
  return (
    <form ref={form} className={styles.form} onSubmit={(event) => void submit(event)} noValidate>
      {!mayChange && <Notice tone="plain">Changing these rules needs the admin role.</Notice>}
      <Panel title={unsaved ? 'What happens when this is saved' : 'What follows from these rules'}>
        <ul className={styles.consequences}>
          {consequencesOf(values).map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      </Panel>
      <Panel title="General">
        <div className={styles.switches}>
          {SWITCHES.map(([name, label, description]) => (
            <Switch
              key={name}
              label={label}
              description={description}
              disabled={!mayChange}
              checked={values[name]}
              onChange={(event) => setValues({ ...values, [name]: event.currentTarget.checked })}
            />
          ))}
        </div>
      </Panel>
      <Panel title="IP whitelist">{entryList('ip', 'IP address', '198.51.100.7')}</Panel>
      <Panel title="Network ranges">{entryList('range', 'Network range', '198.51.100.0/24')}</Panel>
      <Panel title="Notifications">
        <div className={styles.switches}>
          <Switch
            label="Notify about new requests"
            disabled={!mayChange}
            checked={values.notificationEnabled}
            onChange={(event) => setValues({ ...values, notificationEnabled: event.currentTarget.checked })}
          />
          <TextInput
            type="email"
            name="notificationEmail"
            label="Notification email"
            autoComplete="off"
            disabled={!mayChange}
            error={emailProblem}
            value={values.notificationEmail}
            onChange={(event) => setValues({ ...values, notificationEmail: event.currentTarget.value })}
          />
        </div>
      </Panel>
      {save.isError && <Notice tone="danger">{saveFailed(messageOf(save.error))}</Notice>}
      {mayChange && <SaveBar unsaved={unsaved} saving={save.isPending} onDiscard={discard} />}
      <UnsavedGuard unsaved={mayChange && unsaved && !save.isPending} />
    </form>
  )
}

/** Both have the same fields, and the order in the lists matters. */
const sameSettings = (a: AutoApprovalSettings, b: AutoApprovalSettings): boolean =>
  (Object.keys(a) as (keyof AutoApprovalSettings)[]).every((name) => sameValue(a[name], b[name]))
