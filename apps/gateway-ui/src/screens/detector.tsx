/** Which model looks at the cameras, and a button that adds a detector. */
import { Button } from '@mantine/core'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { messageOf } from '../calls.ts'
import { FilePassword, useFilePassword } from '../parts/file-password.tsx'
import { useAddDetector, useChooseDetector, useDetector } from '../queries.ts'
import styles from './configuration.module.css'

type DetectorProps = {
  /** There is text in the editor that is not saved. */
  isFileChanged: boolean
  /** gateway.yaml has the detector now. */
  onChosen: () => void
}

export function Detector({ isFileChanged, onChosen }: DetectorProps) {
  const query = useDetector()
  const password = useFilePassword()
  const add = useAddDetector()
  const choose = useChooseDetector()
  const { data } = query
  if (data === undefined) return <PanelWaiting query={query} rows={2} label="Loading the detector" />
  const { model, offered, isAdded, step, failure, hash } = data
  const { name, licence } = offered
  const problem = add.error ?? choose.error
  const isOpen = model !== name || !isAdded

  return (
    <Panel title="Detector">
      <div className={styles.form}>
        <p>{modelInWords(model)}</p>
        {isOpen && (
          <>
            <p>
              <a href={offered.page}>{name}</a> names persons, cows, horses, sheep, dogs, birds and others of COCO’s
              labels, and no boar, deer or fox.
              {!isAdded && (
                <>
                  {' '}
                  It is {offered.megabytes} MB, from the hub or by npm. Its licence is{' '}
                  {licence.url === null ? licence.name : <a href={licence.url}>{licence.name}</a>}.
                </>
              )}
            </p>
            <output>{step}</output>
            {failure !== null && <Notice tone="danger">It was not added: {failure}</Notice>}
            {problem !== null && <Notice tone="danger">{messageOf(problem)}</Notice>}
            <FilePassword {...password} />
            {isAdded && isFileChanged && <p>Save or undo your changes of gateway.yaml first.</p>}
            <div className={styles.buttons}>
              {isAdded ? (
                <Button
                  loading={choose.isPending}
                  disabled={model === null || isFileChanged || password.isMissing}
                  onClick={() =>
                    choose.mutate(
                      { hash, ...password.given },
                      {
                        onSuccess() {
                          onChosen()
                          void toast('Saved. It looks with the detector now.')
                        },
                      },
                    )
                  }
                >
                  Look with {name}
                </Button>
              ) : (
                <Button
                  loading={add.isPending || step !== null}
                  disabled={password.isMissing}
                  onClick={() => add.mutate({ acceptedLicence: licence.name, ...password.given })}
                >
                  Accept {licence.name} and add {name}
                </Button>
              )}
            </div>
          </>
        )}
      </div>
    </Panel>
  )
}

function modelInWords(model: string | null): string {
  if (model === null) return 'Nothing of this device looks at cameras. Add a camera first.'
  if (model === 'none') return 'No model looks: this device reports motion, and never says what moves.'
  return `${model} looks at the cameras.`
}
