type ClipVideoProps = { src: string; label: string; className: string | undefined; onBroken: () => void }

/** The clip of a detection. It begins by itself, and without sound, because browsers require that. */
export function ClipVideo({ src, label, className, onBroken }: ClipVideoProps) {
  return (
    // Its sound, if any, is of a field or a yard.
    // oxlint-disable-next-line jsx-a11y/media-has-caption
    <video className={className} src={src} controls autoPlay muted playsInline aria-label={label} onError={onBroken} />
  )
}
