/** Adds a camera: by its address or found in the network, shown live before it is saved. */
import { Button, TextInput } from '@mantine/core'
import { useCallback, useState } from 'react'
import { useNavigate } from 'react-router'
import { deviceCalls } from 'virtual:device-calls'
import type { FoundCamera } from '@hedgerow/contract/device-interface'
import { useLivePicture } from '@hedgerow/ui/live-picture.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { PanelForbidden } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { PasswordField } from '@hedgerow/ui/password-field.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { UnsavedGuard } from '@hedgerow/ui/unsaved-guard.tsx'
import { askPicture, DeviceError, messageOf } from '../calls.ts'
import { FilePassword, useFilePassword } from '../parts/file-password.tsx'
import stageStyles from '../parts/stage.module.css'
import { useAddCamera, useFindCameras, useStatus, useTrial, useTryCamera } from '../queries.ts'
import { useVisitor } from '../session.ts'
import styles from './camera.module.css'

export function AddCameraScreen() {
  const name = useStatus().data?.name ?? 'Gateway'
  const { mayManage } = useVisitor()
  return (
    <>
      <PageHead title="Add a camera" place={name} lead="The gateway watches it as soon as it is saved." />
      {mayManage ? (
        <Form />
      ) : (
        <Panel title="Camera">
          <PanelForbidden>
            Managers and administrators of the hub, and people who know the password of this device, add cameras.
          </PanelForbidden>
        </Panel>
      )}
    </>
  )
}

function Form() {
  const navigate = useNavigate()
  const [name, setName] = useState('')
  /** The name of the found camera that was last looked at. */
  const [proposed, setProposed] = useState('')
  const [url, setUrl] = useState('')
  const password = useFilePassword()
  const trying = useTryCamera()
  const adding = useAddCamera()
  const isReady = name.trim() !== '' && url.trim() !== '' && !password.isMissing
  return (
    <div className={styles.editor}>
      <UnsavedGuard unsaved={url !== '' && !adding.isPending && !adding.isSuccess} />
      <div className={styles.main}>
        <Panel title="Camera">
          <form
            className={styles.side}
            onSubmit={(event) => {
              event.preventDefault()
              trying.mutate({ url, ...password.given })
            }}
          >
            <TextInput
              label="Name"
              description="Rules and detections use this name."
              value={name}
              maxLength={100}
              error={fieldError(adding.error, 'name')}
              onChange={(event) => setName(event.currentTarget.value)}
            />
            <TextInput
              label="Address"
              description={
                'rtsp://USER:PASSWORD@HOST/PATH, or http for MJPEG and snapshots. People who may read gateway.yaml ' +
                'see a password in it; ${NAME} is replaced by a variable of the agent.'
              }
              value={url}
              maxLength={1_000}
              autoComplete="off"
              spellCheck={false}
              error={fieldError(trying.error, 'url')}
              onChange={(event) => setUrl(event.currentTarget.value)}
            />
            <FilePassword {...password} />
            {trying.error !== null && fieldError(trying.error, 'url') === undefined && (
              <Notice tone="danger">{messageOf(trying.error)}</Notice>
            )}
            {adding.error !== null && fieldError(adding.error, 'name') === undefined && (
              <Notice tone="danger">{messageOf(adding.error)}</Notice>
            )}
            <div className={styles.buttons}>
              <Button
                type="submit"
                variant="default"
                loading={trying.isPending}
                disabled={url.trim() === '' || password.isMissing}
              >
                Show picture
              </Button>
              <Button
                loading={adding.isPending}
                disabled={!isReady}
                onClick={() =>
                  adding.mutate(
                    { name: name.trim(), url: url.trim(), ...password.given },
                    {
                      onSuccess() {
                        void toast('Saved. The gateway watches this camera now.')
                        void navigate(`/cameras/${encodeURIComponent(name.trim())}`)
                      },
                    },
                  )
                }
              >
                Save
              </Button>
            </div>
          </form>
        </Panel>
        {trying.data !== undefined && <Preview key={trying.data.id} id={trying.data.id} />}
      </div>
      <Search
        given={password.given}
        isMissing={password.isMissing}
        onUse={(address, found) => {
          setUrl(address)
          if (name === '' || name === proposed) setName(found)
          setProposed(found)
          trying.mutate({ url: address, ...password.given })
        }}
      />
    </div>
  )
}

const PREVIEW_MS = 500

function Preview({ id }: { id: string }) {
  const trial = useTrial(id)
  const load = useCallback(
    (signal: AbortSignal) => askPicture(deviceCalls.readTrialPicture, { params: { id }, signal }),
    [id],
  )
  const { ref, shown } = useLivePicture(load, { refreshMs: PREVIEW_MS, isOff: trial.data?.isOnline !== true })
  const problems = trial.data?.problems ?? []
  return (
    <section aria-label="Preview" className={styles.main}>
      <div ref={ref} className={stageStyles.stage} data-empty={shown === undefined}>
        {shown === undefined ? (
          <span>{problems.length > 0 ? 'No picture' : 'Connecting…'}</span>
        ) : (
          <img src={shown.address} alt="The camera now" />
        )}
      </div>
      <output>
        {trial.error !== null ? (
          <Notice tone="warning">{messageOf(trial.error)}</Notice>
        ) : problems.length > 0 ? (
          problems.map((problem) => (
            <Notice key={problem} tone="warning">
              {problem}
            </Notice>
          ))
        ) : (
          trial.data?.isOnline === true && (
            <Notice tone="good">
              {trial.data.fps === 0 ? 'It works.' : `It works: ${trial.data.fps.toFixed(1)} pictures a second.`}
            </Notice>
          )
        )}
      </output>
    </section>
  )
}

type SearchProps = {
  given: { password?: string }
  isMissing: boolean
  onUse: (address: string, name: string) => void
}

/** ONVIF cameras in the device's networks. */
function Search({ given, isMissing, onUse }: SearchProps) {
  const search = useFindCameras()
  const [user, setUser] = useState('')
  const [cameraPassword, setCameraPassword] = useState('')
  const [at, setAt] = useState('')
  return (
    <Panel title="Find ONVIF cameras">
      <form
        className={styles.side}
        onSubmit={(event) => {
          event.preventDefault()
          search.mutate({
            ...given,
            ...(user !== '' && { user }),
            ...(cameraPassword !== '' && { cameraPassword }),
            ...(at.trim() !== '' && { at: at.trim() }),
          })
        }}
      >
        <TextInput
          label="Camera username"
          value={user}
          maxLength={100}
          autoComplete="off"
          onChange={(event) => setUser(event.currentTarget.value)}
        />
        <PasswordField
          label="Camera password"
          showLabel="Show the camera password"
          value={cameraPassword}
          maxLength={200}
          autoComplete="off"
          onChange={(event) => setCameraPassword(event.currentTarget.value)}
        />
        <TextInput
          label="Only at this address"
          description="For a camera in another network."
          value={at}
          maxLength={200}
          error={fieldError(search.error, 'at')}
          onChange={(event) => setAt(event.currentTarget.value)}
        />
        <div className={styles.buttons}>
          <Button type="submit" variant="default" loading={search.isPending} disabled={isMissing}>
            Search
          </Button>
        </div>
        {search.error !== null && fieldError(search.error, 'at') === undefined && (
          <Notice tone="danger">{messageOf(search.error)}</Notice>
        )}
        {search.data?.length === 0 && (
          <Notice tone="plain">No ONVIF camera answers in the networks of this device.</Notice>
        )}
      </form>
      {search.data !== undefined && search.data.length > 0 && (
        <ul className={styles.found} aria-label="Found cameras">
          {search.data.map((camera) => (
            <Found
              key={camera.host}
              camera={camera}
              onUse={({ url, name }) => onUse(withCredentials(url, user, cameraPassword), name)}
            />
          ))}
        </ul>
      )}
    </Panel>
  )
}

type FoundProps = { camera: FoundCamera; onUse: (stream: FoundCamera['streams'][number]) => void }

function Found({ camera: { host, problem, streams }, onUse }: FoundProps) {
  return (
    <li>
      <strong>{host}</strong>
      {problem !== null && <p className={styles.quiet}>{problem}</p>}
      {streams.map((stream) => (
        <Button
          key={stream.url}
          variant={stream.isBest ? 'filled' : 'default'}
          size="compact-sm"
          onClick={() => onUse(stream)}
        >
          Use {stream.profile}, {stream.video}
        </Button>
      ))}
    </li>
  )
}

function withCredentials(url: string, user: string, password: string): string {
  if (user === '') return url
  return url.replace('//', `//${encodeURIComponent(user)}:${encodeURIComponent(password)}@`)
}

function fieldError(error: Error | null, field: string): string | undefined {
  return error instanceof DeviceError ? error.fieldErrors[field] : undefined
}
