/** Nothing but disturbances over empty scenes: graphs of FFmpeg's filters that make them from one photograph. */
/** The sensor's noise. */
const SCENE = 'noise=alls=4:allf=t'

export type Disturbance = {
  /** `[0:v]` is the photograph. Ends without a name. */
  filter: string
  /** More inputs. */
  inputs?: readonly string[]
  /** Goes through this rate in bits a second on its way. */
  bitRate?: string
}

const black = (size: string) => ['-f', 'lavfi', '-i', `color=black:s=${size}:r=10`]

/** A spot of light that moves over the scene. */
function spot(side: number, x: string, y: string, strength = 255): { inputs: string[]; over: string } {
  const alpha = `a='${strength}*exp(-((X-W/2)^2+(Y-H/2)^2)/(W*W/18))'`
  const overlay = `[BASE][SPOT]overlay=x='${x}':y='${y}'`
  return {
    inputs: ['-f', 'lavfi', '-i', `color=white:s=${side}x${side}:r=10`],
    over: `format=yuva420p,geq=lum=235:cb=128:cr=128:${alpha}[SPOT];${overlay}`,
  }
}

function withSpots(spots: readonly ReturnType<typeof spot>[]): Disturbance {
  let filter = `[0:v]${SCENE}[base0]`
  for (const [i, { over }] of spots.entries()) {
    const named = over.replaceAll('SPOT', `spot${i}`).replaceAll('BASE', `base${i}`)
    filter += `;[${i + 1}:v]${named}[base${i + 1}]`
  }
  return { filter: `${filter};[base${spots.length}]null`, inputs: spots.flatMap(({ inputs }) => inputs) }
}

const insect = (i: number) =>
  spot(35, `mod(${550 + 85 * i}*t+${150 * i},850)-100`, `${45 * i + 30}+40*sin(${5 + i}*t)`, 200)

export const DISTURBANCES: Readonly<Record<string, Disturbance>> = {
  quiet: { filter: `[0:v]${SCENE}` },
  rain: {
    inputs: black('107x12'),
    filter:
      `[1:v]format=gray,noise=alls=100:allf=t+u,lut=y='if(gt(val,60),150,0)',scale=640:360:flags=neighbor,boxblur=1[rain];` +
      `[0:v]${SCENE},format=yuv420p[scene];[rain]format=yuv420p[drops];[scene][drops]blend=c0_mode=screen:c1_mode=normal:c2_mode=normal:c1_opacity=1:c0_opacity=0.5`,
  },
  'wind: the camera sways': {
    filter: `[0:v]scale=656:370,crop=640:360:'8+3*sin(2.1*t)+2*sin(5.3*t)':'5+1.5*sin(3.7*t)',${SCENE}`,
  },
  'wind: a branch sways': {
    filter:
      `[0:v]${SCENE},split[a][b];[b]crop=150:130:400:40,rotate='0.06*sin(2.4*t)+0.03*sin(6.1*t)':c=none[branch];` +
      `[a][branch]overlay=x='400+5*sin(1.9*t)':y='40+3*sin(3.3*t)'`,
  },
  'noise at 150 kbit/s': { filter: '[0:v]noise=alls=30:allf=t', bitRate: '150k' },
  'exposure that goes up and down': {
    filter: `[0:v]${SCENE},eq=brightness='0.12*sin(2*PI*t/7)':eval=frame`,
  },
  'switch to infrared and back': {
    filter: `[0:v]${SCENE},hue=s='if(between(t,4,8),0,1)':b='if(between(t,4,8),1.5,0)'`,
  },
  headlights: withSpots([spot(210, 'mod(130*t,1200)-210', '75'), spot(150, '750-mod(95*t,1300)', '130')]),
  'insects before the lens': withSpots([0, 1, 2, 3].map(insect)),
  'a clock with tenths': {
    filter: `[0:v]${SCENE},drawtext=text='%{pts\\:hms}':fontsize=18:fontcolor=white:box=1:boxcolor=black:x=10:y=7`,
  },
}
