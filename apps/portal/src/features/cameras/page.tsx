/** Cameras: the newest picture of each, while the page is open. */
import { Button } from '@mantine/core'
import { useFullscreenElement } from '@mantine/hooks'
import { useMemo, type CSSProperties } from 'react'
import { useCameras } from '#api/cameras.ts'
import { isAt, placeOptions } from '#api/places.ts'
import { Choice } from '@hedgerow/ui/choice.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { PanelEmpty, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { useParameters } from '#parts/parameters.ts'
import { Tile } from './tile.tsx'
import styles from './cameras.module.css'

const NARROWEST = 160
const WIDEST = 640
const USUAL = 300
const WIDTH_KEY = 'hubCameraWidth'

/** The width in the address; else the last one chosen in this browser. */
function widthIn(parameters: URLSearchParams): number {
  const width = Number(parameters.get('width')) || Number(localStorage.getItem(WIDTH_KEY)) || USUAL
  return Math.min(WIDEST, Math.max(NARROWEST, width))
}

export function CamerasPage() {
  const cameras = useCameras()
  const [parameters, changeParameters] = useParameters()
  const { ref, toggle, fullscreen } = useFullscreenElement<HTMLDivElement>()
  const site = parameters.get('site') ?? ''
  const width = widthIn(parameters)
  const places = useMemo(() => placeOptions(cameras.data ?? [], site), [cameras.data, site])
  const shown = (cameras.data ?? []).filter((camera) => isAt(camera, site))
  const say = (name: string, value: string, usual: string) =>
    changeParameters(
      (now) => {
        const next = new URLSearchParams(now)
        if (value === usual) next.delete(name)
        else next.set(name, value)
        return next
      },
      { replace: true, preventScrollReset: true },
    )
  return (
    <>
      <PageHead
        title="Cameras"
        lead="The newest picture of each camera. Click one to see its incidents."
        actions={
          (cameras.data?.length ?? 0) > 0 && (
            <>
              {(places.length > 2 || site !== '') && (
                <Choice label="Site" value={site} options={places} onChange={(value) => say('site', value, '')} />
              )}
              <label className={styles.density}>
                Size
                <input
                  type="range"
                  min={NARROWEST}
                  max={WIDEST}
                  step={20}
                  value={width}
                  onChange={({ currentTarget: { value } }) => {
                    localStorage.setItem(WIDTH_KEY, value)
                    say('width', value, String(USUAL))
                  }}
                />
              </label>
              {/* A phone may have no full screen for anything but a video. */}
              {document.fullscreenEnabled && (
                <Button variant="default" onClick={() => void toggle()}>
                  Full screen
                </Button>
              )}
            </>
          )
        }
      />
      {cameras.data === undefined ? (
        <PanelWaiting query={cameras} rows={6} label="Loading cameras" />
      ) : shown.length === 0 && cameras.data.length > 0 ? (
        <PanelEmpty title="No camera at this site">Choose all sites.</PanelEmpty>
      ) : shown.length === 0 ? (
        <PanelEmpty title="No cameras yet">
          Cameras appear here when a gateway reports them: from Frigate, from its own eye, or from a program.
        </PanelEmpty>
      ) : (
        <div ref={ref} className={styles.screen} data-full={fullscreen}>
          <ul className={styles.wall} aria-label="Cameras" style={{ '--width': `${width}px` } as CSSProperties}>
            {shown.map((camera) => (
              <Tile key={`${camera.gatewayId} ${camera.name}`} camera={camera} />
            ))}
          </ul>
        </div>
      )}
    </>
  )
}
