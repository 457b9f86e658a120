/** The machine that the stand-in simulates, in the form of a description. */

import type { CardError, ClockReason, MachineFault, QueryKind } from './words.js';

/**
 * The machine that the stand-in `nvidia-smi` simulates: plain data, so that a test can change a built one and write it with
 * `JSON.stringify` to the file named by `STAND_IN_MACHINE`. In the file every key but `driver` and `cards` is optional, and
 * of a card all but its `model`; `readMachine` fills in the values of a healthy one.
 */
export interface Machine {
  /**
   * Version of driver and program, as in `590.48.01`. Its branch (418 to 610) determines fields, words, rounding and exit
   * codes.
   */
  driver: string;
  /** The newest CUDA version that this driver supports, as `--version` prints it. */
  cuda: string;
  /** The cards in bus order. Index and position in this list are equal, unless a card is gone from the bus. */
  cards: Card[];
  /** What is wrong with driver or library as a whole; no query then reaches a card. */
  fault: MachineFault | null;
  /** How long a run takes before its first line, in milliseconds: one number for all, or one for each kind of query. */
  delay_ms: number | Partial<Record<QueryKind, number>>;
  /** Where a run hangs for ever. It then ignores every signal but SIGKILL. */
  hang: Hang | null;
  /**
   * `visible` lists the cards' processes. `invisible` lists none though memory is used, as in a container without the
   * host's pid namespace. `not_supported` prints one row of `[N/A]` for each card.
   */
  process_list: 'visible' | 'invisible' | 'not_supported';
  /** The links between cards, row by row: `X`, `NV18`, `PIX`, `PXB`, `PHB`, `NODE` or `SYS`. Null: every pair is `SYS`. */
  topology: string[][] | null;
  /** Answers to print instead of the computed ones, for cases that this description cannot express. */
  raw: Partial<Record<QueryKind, RawAnswer>>;
}

/** One card. `null` for a reading means that the card does not have it; the program then prints `[N/A]`. */
export interface Card {
  /** The only identifier that is stable when cards are lost: `GPU-` and 32 hex digits in groups. */
  uuid: string;
  /** Product name, as in `NVIDIA H100 80GB HBM3`. */
  name: string;
  /** Domain, bus, device and function, as in `00000000:4E:00.0`. */
  bus_id: string;
  /** Serial number of the board; GeForce cards have none. */
  serial: string | null;
  /** All memory in MiB, including the driver's own. Null with shared memory (GB10). */
  memory_total_mib: number | null;
  /** The driver's own memory in MiB: not in `memory_used_mib`, and on branch 470 and before not in the total. */
  memory_reserved_mib: number;
  /** Memory in use in MiB; a fraction is rounded down up to branch 535 and up from 550 on, as in the real program. */
  memory_used_mib: number;
  /** Processes on the card. They need not add up to `memory_used_mib`: a hidden process is a usual case. */
  processes: CardProcess[];
  /** Percent of time that a kernel ran, and that memory was read or written. */
  utilization_percent: number | null;
  utilization_memory_percent: number | null;
  /** Degrees Celsius of the chip, and of its memory. */
  temperature_c: number | null;
  temperature_memory_c: number | null;
  /** Current power draw in watts, and the limit. */
  power_draw_w: number | null;
  power_limit_w: number | null;
  /** `P0` (fastest) to `P12`. */
  pstate: string;
  fan_percent: number | null;
  persistence_mode: boolean;
  /** `Default`, `Exclusive_Process` or `Prohibited`. */
  compute_mode: string;
  /** Compute capability, as in `9.0`. */
  compute_cap: string;
  /** Null: the card has no ECC. Counters read `[N/A]` while it is off. */
  ecc: Ecc | null;
  /** Retired memory pages: Volta, Turing and older data-centre cards. Null on all newer ones. */
  retired_pages: { sbe: number; dbe: number; pending: boolean } | null;
  /** Remapped memory rows: data-centre and pro cards from Ampere on. Unreadable while MIG is on. */
  remapped_rows: { correctable: number; uncorrectable: number; pending: boolean; failure: boolean } | null;
  /** Why clocks are throttled now. An idle card has `gpu_idle`. Null on cards too old to tell. */
  clock_reasons: ClockReason[] | null;
  /** Null: the card does not support MIG. */
  mig: { enabled: boolean; devices: MigDevice[] } | null;
  /** Whether the card's GSP (its own system processor) is in use. */
  gsp: boolean | null;
  /** Only on machines with NVSwitch. */
  fabric: { state: string; status: string } | null;
  /** `reset_status.*`, branches 535 to 565 only. Null: `[N/A]`. */
  reset_required: boolean | null;
  drain_and_reset_recommended: boolean | null;
  /** `gpu_recovery_action`, 590 and later: `None`, `Reset`, `Reboot`, `Drain P2P`, `Drain and Reset`. */
  recovery_action: string;
  /** Whether a display is attached and in use. */
  display_active: boolean;
  /** By field name, the text that the column prints instead (with its unit, which `nounits` does not remove). */
  columns: Record<string, string>;
  /** What is wrong with this card. */
  fault: CardFault | null;
}

/** A process as `--query-compute-apps` lists it; `memory_mib` null prints `[N/A]`. */
export interface CardProcess {
  pid: number;
  name: string;
  memory_mib: number | null;
}

/** ECC and its counters; `volatile` since the driver was loaded, `aggregate` over the card's lifetime. */
export interface Ecc {
  enabled: boolean;
  corrected_volatile: number;
  corrected_aggregate: number;
  uncorrected_volatile: number;
  uncorrected_aggregate: number;
  /** The part of the uncorrected volatile errors in SRAM; the others were in device memory. */
  uncorrected_volatile_sram: number;
}

/** One MIG device, as `-L` lists it. */
export interface MigDevice {
  /** As in `3g.40gb`. */
  profile: string;
  /** `MIG-` and 32 hex digits in groups. */
  uuid: string;
}

/**
 * `handle`: the driver does not even return the card's handle; most queries then fail as a whole, but with `no_permission`
 * (all branches) and `not_found` (535 and later) the card is left out silently.
 * `queries`: the handle works and the card's columns show the error word: all of them, or those that change.
 * `gone`: off the PCI bus; the count goes down and later cards move up.
 */
export type CardFault =
  | { kind: 'handle'; error: CardError }
  | { kind: 'queries'; which: 'all' | 'dynamic'; error: CardError }
  | { kind: 'gone' };

/**
 * `init`: before the first line. A number: at that card, after the rows before it were written.
 * Without `kinds` an `init` hangs every run, and a card hangs a `--query-gpu` of any changing reading; with `kinds` exactly
 * the queries of those kinds hang.
 */
export interface Hang {
  at: 'init' | number;
  kinds?: QueryKind[];
}

/** `verbatim`: this text and exit code. `cut`: the first rows of the computed answer, then a text and an exit code. */
export type RawAnswer =
  | { kind: 'verbatim'; stdout: string; rc: number }
  | { kind: 'cut'; rows: number; end: string; rc: number };
