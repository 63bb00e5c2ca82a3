import { Button, TextInput } from '@mantine/core'
import { useState, type KeyboardEvent } from 'react'
import type { CameraSettings } from '@hedgerow/contract/device-interface'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { UnsavedGuard } from '@hedgerow/ui/unsaved-guard.tsx'
import { DeviceError, messageOf } from '../calls.ts'
import { changeOf, nameProblems, newKey, useDrawing, type DrawnShape } from '../parts/drawing.ts'
import { FilePassword, useFilePassword } from '../parts/file-password.tsx'
import { Handles } from '../parts/handles.tsx'
import { LEAST_CORNERS, newPolygon, removeCorner, type Polygon } from '../parts/polygon.ts'
import { Stage } from '../parts/stage.tsx'
import { useChangeCamera } from '../queries.ts'
import styles from './camera.module.css'

type CameraEditorProps = {
  name: string
  settings: CameraSettings
  mayChange: boolean
  /** Reads the file again. */
  onReload: () => Promise<CameraSettings | undefined>
}

/** Draws zones and masks on the picture, by mouse, touch or keyboard, and writes them into gateway.yaml. */
export function CameraEditor({ name, settings, mayChange, onReload }: CameraEditorProps) {
  const drawing = useDrawing(settings)
  const [chosenKey, setChosenKey] = useState<string>()
  /** The corner of the chosen shape that the person last used. */
  const [corner, setCorner] = useState<number>()
  const change = useChangeCamera(name)
  const password = useFilePassword()
  const { shapes } = drawing
  const chosen = shapes.find(({ key }) => key === chosenKey)
  const problems = nameProblems(shapes)
  const isOutdated = change.error instanceof DeviceError && change.error.code === 'file_changed'

  function replace(key: string, part: Partial<DrawnShape>, goesOn = false): void {
    drawing.change(
      shapes.map((shape) => (shape.key === key ? { ...shape, ...part } : shape)),
      goesOn,
    )
  }

  function choose(key: string | undefined): void {
    setChosenKey(key)
    setCorner(undefined)
  }

  function add(kind: DrawnShape['kind']): void {
    const key = newKey()
    const zones = shapes.filter((shape) => shape.kind === 'zone')
    const zoneName = kind === 'zone' ? freeName(zones.map((zone) => zone.name)) : ''
    drawing.change([...shapes, { key, kind, name: zoneName, polygon: newPolygon(shapes.length) }])
    choose(key)
  }

  function onKeys(event: KeyboardEvent): void {
    const isTyping = event.target instanceof HTMLInputElement
    if (isTyping || event.key !== 'z' || !(event.ctrlKey || event.metaKey) || event.shiftKey) return
    event.preventDefault()
    drawing.undo()
  }

  async function reload(): Promise<void> {
    const read = await onReload()
    if (read === undefined) return
    drawing.reset(read)
    change.reset()
  }

  function save(): void {
    change.mutate(
      { change: changeOf(shapes), hash: settings.hash, ...password.given },
      {
        onSuccess(saved) {
          drawing.finish(shapes, saved)
          void toast('Saved. It is active.')
        },
      },
    )
  }

  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- a shortcut; Undo has a button
    <div className={styles.editor} onKeyDown={onKeys}>
      <UnsavedGuard unsaved={drawing.canUndo} />
      <Stage
        camera={name}
        shapes={shapes.map(({ key, kind, polygon }) => ({
          key,
          tone: key === chosenKey ? ('chosen' as const) : kind,
          polygon,
        }))}
        onChoose={mayChange ? choose : undefined}
      >
        {mayChange && chosen && (
          <Handles
            key={chosen.key}
            label={wordsOf(chosen, shapes)}
            polygon={chosen.polygon}
            chosen={corner}
            onChoose={setCorner}
            onChange={(polygon, goesOn) => replace(chosen.key, { polygon }, goesOn)}
          />
        )}
      </Stage>
      <Panel title="Zones and masks">
        <div className={styles.side}>
          {shapes.length === 0 && <p className={styles.quiet}>None yet. Without a zone, the whole picture counts.</p>}
          <ul className={styles.shapes} aria-label="Zones and masks">
            {shapes.map((shape) => (
              <li key={shape.key}>
                <button
                  type="button"
                  className={styles.choose}
                  data-tone={shape.kind}
                  aria-pressed={shape.key === chosenKey}
                  disabled={!mayChange}
                  onClick={() => choose(shape.key === chosenKey ? undefined : shape.key)}
                >
                  {wordsOf(shape, shapes)}
                </button>
                {mayChange && shape.key === chosenKey && (
                  <div className={styles.chosen}>
                    {shape.kind === 'zone' && (
                      <TextInput
                        label="Name of the zone"
                        value={shape.name}
                        error={problems.get(shape.key)}
                        maxLength={100}
                        onChange={(event) => replace(shape.key, { name: event.currentTarget.value })}
                      />
                    )}
                    <p className={styles.quiet}>
                      Drag a corner, or move it with the arrow keys: Shift goes farther, Delete removes it. + adds one.
                    </p>
                    <RemoveCorner
                      polygon={shape.polygon}
                      corner={corner}
                      onRemove={(polygon, next) => {
                        replace(shape.key, { polygon })
                        setCorner(next)
                      }}
                    />
                    <Button
                      variant="default"
                      size="compact-sm"
                      onClick={() => drawing.change(shapes.filter(({ key }) => key !== shape.key))}
                    >
                      Delete {wordsOf(shape, shapes)}
                    </Button>
                  </div>
                )}
              </li>
            ))}
          </ul>
          {mayChange && (
            <>
              <div className={styles.buttons}>
                <Button variant="default" size="compact-sm" onClick={() => add('zone')}>
                  Add a zone
                </Button>
                <Button variant="default" size="compact-sm" onClick={() => add('mask')}>
                  Add a mask
                </Button>
                <Button variant="default" size="compact-sm" onClick={() => add('object mask')}>
                  Add an object mask
                </Button>
              </div>
              <p className={styles.quiet}>
                Only an object in a zone is an alert. Movement in a mask is ignored. An object that stands in an object
                mask is not reported.
              </p>
              <FilePassword {...password} />
              {change.error !== null && (
                <Notice tone="danger">
                  {messageOf(change.error)}{' '}
                  {isOutdated && (
                    <Button variant="default" size="compact-sm" onClick={() => void reload()}>
                      Load it again
                    </Button>
                  )}
                </Notice>
              )}
              <div className={styles.buttons}>
                <Button
                  loading={change.isPending}
                  disabled={!drawing.canUndo || problems.size > 0 || password.isMissing}
                  onClick={save}
                >
                  Save
                </Button>
                <Button variant="default" disabled={!drawing.canUndo} onClick={drawing.undo}>
                  Undo
                </Button>
                <Button variant="default" disabled={!drawing.canUndo} onClick={() => drawing.reset(settings)}>
                  Undo all changes
                </Button>
              </div>
            </>
          )}
        </div>
      </Panel>
    </div>
  )
}

type RemoveCornerProps = {
  polygon: Polygon
  corner: number | undefined
  /** `next`: the corner that is chosen then. */
  onRemove: (polygon: Polygon, next: number) => void
}

/** For people without a keyboard. */
function RemoveCorner({ polygon, corner, onRemove }: RemoveCornerProps) {
  // Undo may have removed the corner.
  const index = corner !== undefined && corner < polygon.length ? corner : undefined
  if (polygon.length <= LEAST_CORNERS) return <p className={styles.quiet}>A shape has at least three corners.</p>
  return (
    <Button
      variant="default"
      size="compact-sm"
      disabled={index === undefined}
      onClick={() => {
        if (index !== undefined) onRemove(removeCorner(polygon, index), Math.min(index, polygon.length - 2))
      }}
    >
      {index === undefined ? 'Remove corner: choose one' : `Remove corner ${index + 1}`}
    </Button>
  )
}

function wordsOf(shape: DrawnShape, shapes: readonly DrawnShape[]): string {
  if (shape.kind === 'zone') return `zone ${shape.name}`
  return `${shape.kind} ${shapes.filter(({ kind }) => kind === shape.kind).indexOf(shape) + 1}`
}

function freeName(names: readonly string[]): string {
  let number = names.length + 1
  while (names.includes(`zone ${number}`)) number += 1
  return `zone ${number}`
}
