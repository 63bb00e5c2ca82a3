import { alertRuleFields, type AlertRule } from '@hedgerow/contract'
import { clockHoursIn } from '@hedgerow/contract/schedules'
import { Button, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDebouncedValue } from '@mantine/hooks'
import { messageOf } from '#api/client.ts'
import { LANGUAGES } from '#api/languages.ts'
import { useSites } from '#api/sites.ts'
import { useUsers } from '#api/users.ts'
import { changesOf } from '#parts/follow.ts'
import { isAsSent, submitTo } from '#parts/submit-to.ts'
import { Choice } from '@hedgerow/ui/choice.tsx'
import { Dialog, DialogActions, useDialogLife } from '@hedgerow/ui/dialog.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { TickBox } from '@hedgerow/ui/tick-box.tsx'
import { isAlertChannel } from './channels.tsx'
import { fieldsOf, KINDS, NEW, valuesOf, type Values } from './fields.ts'
import { useAddRule, useChannels, useEditRule, usePreview } from './queries.ts'
import { StepsField, toggled, WhomField } from './steps-field.tsx'
import styles from './alerts.module.css'

const SETTLED_MS = 300

const SEVERITIES = [
  ['alert', 'Alerts only'],
  ['any', 'Everything seen'],
] as const

const OUTAGES = ['gateway-quiet', 'gateway-warning', 'camera-dark'] as const

const RULE_LANGUAGES = [['', 'As in Settings'], ...LANGUAGES] as const

/** Without `rule` it creates a new one. */
export function RuleDialog({ rule, onGone }: { rule: AlertRule | undefined; onGone: () => void }) {
  const life = useDialogLife(onGone)
  const add = useAddRule()
  const edit = useEditRule()
  const save = rule ? edit : add
  const channels = useChannels(true)
  const form = useForm<Values>({
    initialValues: rule ? valuesOf(rule) : NEW,
    validate: (values) => errorsOf(values, rule),
  })
  const [settled] = useDebouncedValue(form.values, SETTLED_MS)
  const submit = submitTo(form, async (values) => {
    if (rule) {
      const before = fieldsOf(form.getInitialValues(), rule)
      await edit.mutateAsync({ id: rule.id, change: changesOf(fieldsOf(values, rule), before) })
      // What is typed meanwhile is a change of this.
      form.setInitialValues(values)
    } else await add.mutateAsync(fieldsOf(values))
    if (rule === undefined || isAsSent(form, values)) life.onClose()
  })
  const names = Object.entries(channels.data?.channels ?? {}).flatMap(([name, isSet]) =>
    isSet && isAlertChannel(name) ? [name] : [],
  )
  const { data: sites = [] } = useSites()
  const users = useUsers(true)
  const people = (users.data ?? []).filter(({ active }) => active).map(({ id, username }) => ({ id, name: username }))
  return (
    <Dialog {...life} title={rule ? 'Edit Alert Rule' : 'New Alert Rule'} size="lg">
      <form onSubmit={submit} noValidate>
        {save.isError && <Notice tone="danger">{messageOf(save.error)}</Notice>}
        <TextInput label="Name" withAsterisk autoComplete="off" data-autofocus {...form.getInputProps('name')} />
        <fieldset className={styles.over}>
          <legend>Events</legend>
          {KINDS.map(([kind, words]) => (
            <TickBox
              key={kind}
              checked={form.values.what.includes(kind)}
              onChange={(isOn) =>
                form.setFieldValue(
                  'what',
                  isOn ? [...form.values.what, kind] : form.values.what.filter((one) => one !== kind),
                )
              }
            >
              {words}
            </TickBox>
          ))}
        </fieldset>
        {form.errors['what'] !== undefined && <Notice tone="danger">{form.errors['what']}</Notice>}
        <div className={styles.fields}>
          <div className={styles.field}>
            <span aria-hidden="true">Severity</span>
            <Choice
              label="Severity"
              value={form.values.severity}
              options={SEVERITIES}
              onChange={(severity) => form.setFieldValue('severity', severity)}
            />
          </div>
          <TextInput label="Labels" placeholder="Any, or boar, deer" {...form.getInputProps('labels')} />
          <TextInput label="Tags of gateways" placeholder="Any, or north, orchard" {...form.getInputProps('tags')} />
          <TextInput label="Cameras" placeholder="Any" {...form.getInputProps('cameras')} />
          <div className={styles.field}>
            <span aria-hidden="true">Language of shared channels</span>
            <Choice
              label="Language of shared channels"
              value={form.values.language ?? ''}
              options={RULE_LANGUAGES}
              onChange={(language) => form.setFieldValue('language', language === '' ? null : language)}
            />
          </div>
          <TextInput
            label="Active hours, in the hub’s time zone"
            placeholder="Always, or Mon-Fri 18:00-06:00; Sat,Sun"
            maxLength={500}
            {...form.getInputProps('hours')}
          />
          <TextInput
            {...secondsInput}
            label="Group events for (seconds)"
            {...form.getInputProps('collectSeconds')}
            onChange={(event) => form.setFieldValue('collectSeconds', event.currentTarget.valueAsNumber)}
            value={shown(form.values.collectSeconds)}
          />
          <TextInput
            {...secondsInput}
            label="Wait before next alert (seconds)"
            {...form.getInputProps('coolDownSeconds')}
            onChange={(event) => form.setFieldValue('coolDownSeconds', event.currentTarget.valueAsNumber)}
            value={shown(form.values.coolDownSeconds)}
          />
          {OUTAGES.some((kind) => form.values.what.includes(kind)) && (
            <TextInput
              {...secondsInput}
              label="Report outages after (minutes)"
              {...form.getInputProps('holdOffMinutes')}
              onChange={(event) => form.setFieldValue('holdOffMinutes', event.currentTarget.valueAsNumber)}
              value={shown(form.values.holdOffMinutes)}
            />
          )}
        </div>
        {sites.length > 0 && (
          <fieldset className={styles.over}>
            <legend>Sites (none selected = all)</legend>
            {sites.map(({ id, name }) => (
              <TickBox
                key={id}
                checked={form.values.sites.includes(id)}
                onChange={(isOn) => form.setFieldValue('sites', toggled(form.values.sites, id, isOn))}
              >
                {name}
              </TickBox>
            ))}
          </fieldset>
        )}
        <TickBox
          checked={form.values.validatedOnly}
          onChange={(validatedOnly) => form.setFieldValue('validatedOnly', validatedOnly)}
        >
          Only what the second look confirmed
        </TickBox>
        <TickBox
          checked={form.values.breaksThrough}
          onChange={(breaksThrough) => form.setFieldValue('breaksThrough', breaksThrough)}
        >
          Also in people’s quiet hours
        </TickBox>
        <WhomField
          channels={form.values.channels}
          people={form.values.people}
          all={{ channels: names, people }}
          onChange={(whom) => form.setValues(whom)}
        />
        <StepsField
          steps={form.values.steps}
          channels={names}
          people={people}
          onChange={(steps) => form.setFieldValue('steps', steps)}
        />
        {form.errors['steps'] !== undefined && <Notice tone="danger">{form.errors['steps']}</Notice>}
        <Preview values={settled} rule={rule} />
        <DialogActions onCancel={life.onClose}>
          <Button type="submit" loading={save.isPending}>
            Save Rule
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

const secondsInput = { type: 'number', inputMode: 'numeric', min: 0 } as const
const shown = (seconds: number) => (Number.isNaN(seconds) ? '' : seconds)

/** The incidents that the rule would have announced, so that people see in advance whether there are too many. */
function Preview({ values, rule }: { values: Values; rule: AlertRule | undefined }) {
  const parsed = alertRuleFields.safeParse({ ...fieldsOf(values, rule), name: values.name || 'New' })
  const { data } = usePreview(parsed.success ? parsed.data : undefined)
  if (!parsed.success || data === undefined) return null
  if (!values.what.includes('detection'))
    return <output className={styles.preview}>The preview counts only messages about what cameras see.</output>
  const many = data.isWhole ? '' : 'more than '
  return (
    <output className={styles.preview}>
      {data.incidents === 0
        ? 'In the last 7 days this rule would have sent no message.'
        : `In the last 7 days this rule would have sent ${many}${counted(data.messages, 'message')} about ` +
          `${many}${counted(data.incidents, 'incident')}.`}
      {values.what.length > 1 && ' Messages about the other events are not counted.'}
    </output>
  )
}

function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? noun : `${noun}s`}`
}

/** Maps the errors to the form's names of fields. */
function errorsOf(values: Values, rule: AlertRule | undefined): Record<string, string> {
  const { error } = alertRuleFields.safeParse(fieldsOf(values, rule))
  const hours = clockHoursIn(values.hours)
  return {
    ...Object.fromEntries((error?.issues ?? []).map(({ path, message }) => [String(path[0]), message])),
    ...('problem' in hours && { hours: hours.problem }),
  }
}
