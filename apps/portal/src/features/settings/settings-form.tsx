import type { HubSettings } from '@hedgerow/contract'
import { Tabs } from '@mantine/core'
import { lazy, Suspense, useRef, useState } from 'react'
import { ApiError, messageOf } from '#api/client.ts'
import { useDraft } from '#api/drafts.ts'
import { useGateways } from '#api/gateways.ts'
import { follow } from '#parts/follow.ts'
import { useNamedField } from '#parts/named-field.ts'
import { SaveBar } from '#parts/save-bar.tsx'
import { focusFirstError } from '@hedgerow/ui/focus-first-error.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { UnsavedGuard } from '@hedgerow/ui/unsaved-guard.tsx'
import type { Fields } from './fields.tsx'
import { NOT_SAVED, SAVED } from './messages.ts'
import { useSaveSettings } from './queries.ts'
import { GeneralTab, NetworkTab, SecurityTab } from './tabs.tsx'
import {
  checkValues,
  firstTabAtFault,
  sameValues,
  valuesOf,
  type FieldErrors,
  type FormTab,
  type Values,
} from './values.ts'
import styles from './page.module.css'

const VpnOffDialog = lazy(() => import('./vpn-off-dialog.tsx'))

type SettingsFormProps = {
  settings: HubSettings
  mayChange: boolean
  /** True while another tab is shown. Typed values stay. */
  hidden: boolean
  onTab: (tab: FormTab) => void
}

/** General, Security and Network: one set of values, saved together. */
export function SettingsForm({ settings, mayChange, hidden, onTab }: SettingsFormProps) {
  const save = useSaveSettings()
  const [basis, setBasis] = useState(settings)
  const [values, setValues] = useState(() => valuesOf(settings))
  const [errors, setErrors] = useState<FieldErrors>({})
  const saved = valuesOf(settings)
  const isVpnInUse = (useGateways().data?.length ?? 0) > 0
  const [isAsking, setAsking] = useState(false)
  if (basis !== settings) {
    setBasis(settings)
    setValues(follow(values, valuesOf(basis), saved))
  }
  const form = useRef<HTMLFormElement>(null)
  useNamedField(form)
  const unsaved = !sameValues(values, saved)

  useDraft('settings', unsaved ? values : undefined, setValues)

  const show = (wrong: FieldErrors, element: HTMLFormElement) => {
    setErrors(wrong)
    const tab = firstTabAtFault(wrong)
    if (tab === undefined) return
    onTab(tab)
    focusFirstError(element)
  }
  const submit = async (element: HTMLFormElement, isConfirmed = false) => {
    const checked = checkValues(values)
    if ('errors' in checked) {
      show(checked.errors, element)
      return
    }
    setErrors({})
    if (saved.enableVpn && !values.enableVpn && isVpnInUse && !isConfirmed) {
      setAsking(true)
      return
    }
    try {
      const answer = valuesOf(await save.mutateAsync({ settings: checked.settings, seen: settings }))
      setValues((now) => follow(now, values, answer))
      void toast(SAVED)
    } catch (error) {
      void toast(NOT_SAVED)
      if (error instanceof ApiError) show(error.fieldErrors, element)
    }
  }
  const discard = () => {
    setValues(saved)
    setErrors({})
    save.reset()
  }
  const fields: Fields = {
    values,
    saved,
    errors,
    mayChange,
    set: (change: Partial<Values>) => {
      setValues((now) => ({ ...now, ...change }))
      const mended = Object.fromEntries(Object.keys(change).map((name) => [name, undefined]))
      setErrors((now) => ({ ...now, ...mended }))
    },
  }
  return (
    <form
      ref={form}
      className={styles.form}
      hidden={hidden}
      onSubmit={(event) => {
        event.preventDefault()
        void submit(event.currentTarget)
      }}
      noValidate
    >
      {!mayChange && <Notice tone="plain">Everybody sees these settings. Changing them needs the admin role.</Notice>}
      <Tabs.Panel value="general" className={styles.panels}>
        <GeneralTab fields={fields} />
      </Tabs.Panel>
      <Tabs.Panel value="security" className={styles.panels}>
        <SecurityTab fields={fields} />
      </Tabs.Panel>
      <Tabs.Panel value="network" className={styles.panels}>
        <NetworkTab fields={fields} />
      </Tabs.Panel>
      {save.isError && (
        <Notice tone="danger">
          {NOT_SAVED}: {messageOf(save.error)}
        </Notice>
      )}
      {mayChange && <SaveBar unsaved={unsaved} saving={save.isPending} onDiscard={discard} />}
      <Suspense>
        {isAsking && (
          <VpnOffDialog
            hubName={saved.hubName || 'Hub'}
            onConfirm={() => void submit(form.current!, true)}
            onGone={() => setAsking(false)}
          />
        )}
      </Suspense>
      <UnsavedGuard unsaved={mayChange && unsaved && !save.isPending} />
    </form>
  )
}
