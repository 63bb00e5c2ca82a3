/** Configuration: gateway.yaml as text, checked while it is typed and before it is saved. */
import { Button } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { lazy, Suspense, useRef, useState } from 'react'
import { Link } from 'react-router'
import type { DeviceFileError } from '@hedgerow/contract/device-interface'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { PanelForbidden, PanelSkeleton, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { UnsavedGuard } from '@hedgerow/ui/unsaved-guard.tsx'
import { DeviceError, messageOf } from '../calls.ts'
import { FilePassword, useFilePassword } from '../parts/file-password.tsx'
import type { Schema } from '../parts/completion.ts'
import { useFile, useFileCheck, useFileSchema, useSaveFile, useStatus } from '../queries.ts'
import { useVisitor } from '../session.ts'
import type { TextEditorHandle } from './text-editor.tsx'
import { Detector } from './detector.tsx'
import styles from './configuration.module.css'

const CHECK_AFTER_MS = 600
const TextEditor = lazy(() => import('./text-editor.tsx'))
const NONE: readonly DeviceFileError[] = []

export function ConfigurationScreen() {
  const { mayManage } = useVisitor()
  const name = useStatus().data?.name ?? 'Gateway'
  return (
    <>
      <PageHead
        title="Configuration"
        place={name}
        lead="gateway.yaml: cameras, sources, deterrents and rules of this gateway."
        actions={
          mayManage && (
            <Button variant="default" component={Link} to="/configuration/sources">
              Sources as forms
            </Button>
          )
        }
      />
      {mayManage ? (
        <File />
      ) : (
        <Panel title="gateway.yaml">
          <PanelForbidden>
            Managers and administrators of the hub, and people who know the password of this device, see the file.
          </PanelForbidden>
        </Panel>
      )}
    </>
  )
}

function File() {
  const query = useFile()
  const schema = useFileSchema()
  if (query.data === undefined || schema.data === undefined)
    return <PanelWaiting query={query.error ? query : schema} rows={12} label="Loading gateway.yaml" />
  return <Editor file={query.data} query={query} schema={schema.data} />
}

type EditorProps = { file: { text: string; hash: string }; query: ReturnType<typeof useFile>; schema: Schema }

/** Save replaces `file`. What a person typed meanwhile stays, and can be saved next. */
function Editor({ file, query, schema }: EditorProps) {
  const [text, setText] = useState(file.text)
  const password = useFilePassword()
  const [settled] = useDebouncedValue(text, CHECK_AFTER_MS)
  const check = useFileCheck(settled)
  const save = useSaveFile()
  const editor = useRef<TextEditorHandle>(null)
  const isChanged = text !== file.text
  const { errors = NONE, warnings = NONE } = check.data ?? {}
  const { cameras = [], deterrents = [] } = useStatus().data ?? {}
  const isOutdated = save.error instanceof DeviceError && save.error.code === 'file_changed'
  const problem = query.error ?? save.error

  async function reload(): Promise<void> {
    const read = await query.refetch()
    if (!read.isSuccess) return
    setText(read.data.text)
    save.reset()
  }

  return (
    <>
      <Detector isFileChanged={isChanged} onChosen={() => void reload()} />
      <Panel title="gateway.yaml">
        <UnsavedGuard unsaved={isChanged} />
        <form
          className={styles.form}
          onSubmit={(event) => {
            event.preventDefault()
            save.mutate(
              { text, hash: file.hash, ...password.given },
              {
                onSuccess() {
                  password.setPassword('')
                  void toast('Saved. It is active.')
                },
              },
            )
          }}
        >
          <Suspense fallback={<PanelSkeleton rows={12} label="Loading the editor" />}>
            <TextEditor
              ref={editor}
              label="gateway.yaml"
              text={text}
              onChange={setText}
              errors={errors}
              warnings={warnings}
              schema={schema}
              names={{ cameras: cameras.map(({ name }) => name), deterrents: deterrents.map(({ name }) => name) }}
            />
          </Suspense>
          <p className={styles.keys}>
            Ctrl+Space shows what may stand here. F8 goes to the next error. Tab leaves the editor.
          </p>
          <Findings errors={errors} warnings={warnings} onFind={(at) => editor.current?.goTo(at)} />
          {problem !== null && (
            <Notice tone="danger">
              {messageOf(problem)}{' '}
              {isOutdated && (
                <Button variant="default" size="compact-sm" loading={query.isFetching} onClick={() => void reload()}>
                  Load it again
                </Button>
              )}
            </Notice>
          )}
          <FilePassword {...password} />
          <div className={styles.buttons}>
            <Button
              type="submit"
              loading={save.isPending}
              disabled={!isChanged || errors.length > 0 || password.isMissing}
            >
              Save
            </Button>
            <Button variant="default" disabled={!isChanged} onClick={() => setText(file.text)}>
              Undo all changes
            </Button>
          </div>
        </form>
      </Panel>
    </>
  )
}

type FindingsProps = {
  errors: readonly DeviceFileError[]
  warnings: readonly DeviceFileError[]
  onFind: (at: DeviceFileError) => void
}

function Findings({ errors, warnings, onFind }: FindingsProps) {
  return (
    <output className={styles.findings}>
      {errors.length === 0 && warnings.length === 0 && <Notice tone="good">No errors.</Notice>}
      <Places title="Errors" tone="danger" found={errors} onFind={onFind} />
      <Places title="Warnings" tone="warning" found={warnings} onFind={onFind} />
    </output>
  )
}

type PlacesProps = Pick<FindingsProps, 'onFind'> & {
  title: string
  tone: 'danger' | 'warning'
  found: readonly DeviceFileError[]
}

function Places({ title, tone, found, onFind }: PlacesProps) {
  if (found.length === 0) return null
  return (
    <Notice tone={tone}>
      <ul aria-label={title}>
        {found.map((one) => (
          <li key={`${one.line} ${one.column} ${one.message}`}>
            <button type="button" className={styles.find} onClick={() => onFind(one)}>
              Line {one.line}, column {one.column}
            </button>
            : {one.message}
          </li>
        ))}
      </ul>
    </Notice>
  )
}
