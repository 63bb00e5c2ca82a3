/** The dialogs of this screen, loaded when the first one is opened. */
import { siteFields, type Site } from '@hedgerow/contract'
import { Button, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { messageOf } from '#api/client.ts'
import { useDraft } from '#api/drafts.ts'
import { useAddSite, useDeleteSite, useEditSite, useSiteUses } from '#api/sites.ts'
import { ConfirmDialog } from '#parts/confirm-dialog.tsx'
import { changesOf } from '#parts/follow.ts'
import { isAsSent, submitTo } from '#parts/submit-to.ts'
import { Dialog, DialogActions, useDialogLife, type DialogLife } from '@hedgerow/ui/dialog.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { fieldsOf, usesInWords, valuesOf, ZONES } from './words.ts'
import styles from './sites.module.css'

export type OpenDialog = { verb: 'add' } | { verb: 'edit' | 'delete'; site: Site }

export default function Dialogs({ dialog, onGone }: { dialog: OpenDialog; onGone: () => void }) {
  const life = useDialogLife(onGone)
  if (dialog.verb === 'delete') return <DeleteDialog {...life} site={dialog.site} />
  return <SiteDialog {...life} site={dialog.verb === 'edit' ? dialog.site : undefined} />
}

/** Without `site` it adds a new one. */
function SiteDialog({ site, ...life }: DialogLife & { site: Site | undefined }) {
  const add = useAddSite()
  const edit = useEditSite(site?.id ?? '')
  const save = site ? edit : add
  const form = useForm({
    initialValues: valuesOf(site),
    validate: (values) => {
      const { error } = siteFields.safeParse(fieldsOf(values))
      return Object.fromEntries((error?.issues ?? []).map(({ path, message }) => [String(path[0]), message]))
    },
  })
  useDraft(`sites.${site?.id ?? 'new'}`, form.isDirty() ? form.values : undefined, form.setValues)
  const submit = submitTo(form, async (values) => {
    if (site) await edit.mutateAsync(changesOf(fieldsOf(values), fieldsOf(form.getInitialValues())))
    else await add.mutateAsync(fieldsOf(values))
    form.setInitialValues(values)
    void toast(`Site "${values.name.trim()}" saved.`)
    if (isAsSent(form, values)) life.onClose()
  })
  return (
    <Dialog {...life} title={site ? `Edit ${site.name}` : 'Add Site'}>
      <form onSubmit={submit} noValidate>
        {save.isError && <Notice tone="danger">{messageOf(save.error)}</Notice>}
        <TextInput label="Name" withAsterisk autoComplete="off" data-autofocus {...form.getInputProps('name')} />
        <div className={styles.degrees}>
          <TextInput
            label="Latitude"
            placeholder="52.5163"
            inputMode="text"
            autoComplete="off"
            {...form.getInputProps('latitude')}
          />
          <TextInput
            label="Longitude"
            placeholder="13.3777"
            inputMode="text"
            autoComplete="off"
            {...form.getInputProps('longitude')}
          />
        </div>
        <TextInput
          label="Time zone"
          description="Times of the site are shown in it. Empty: each gateway’s own."
          placeholder="Europe/Berlin"
          list="site-time-zones"
          autoComplete="off"
          spellCheck={false}
          {...form.getInputProps('timeZone')}
        />
        <datalist id="site-time-zones">
          {ZONES.map((zone) => (
            <option key={zone}>{zone}</option>
          ))}
        </datalist>
        <Textarea label="Notes" rows={3} {...form.getInputProps('notes')} />
        <DialogActions onCancel={life.onClose}>
          <Button type="submit" loading={save.isPending}>
            Save Site
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

function DeleteDialog({ site, ...life }: DialogLife & { site: Site }) {
  const remove = useDeleteSite(site.id)
  const uses = useSiteUses(site.id)
  const confirm = async () => {
    await remove.mutateAsync()
    void toast(`Site "${site.name}" deleted.`)
  }
  return (
    <ConfirmDialog
      {...life}
      title={`Delete ${site.name}?`}
      button="Delete Site"
      isHarmful
      isRefused={uses.data === undefined || uses.data.rules.length > 0}
      onConfirm={confirm}
    >
      {uses.data !== undefined && usesInWords(uses.data).map((words) => <p key={words}>{words}</p>)}
    </ConfirmDialog>
  )
}
