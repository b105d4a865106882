/**
 * The tunnel: a server that is reached through the proxy can only be answered, so its link runs in
 * requests that we hold until there is something to say. `take` gets the requests `tabhub.link
 * {session, turn, ack, pieces}` and returns their answers `{ack, pieces}`; whoever opens a session
 * gets a socket for it, which works as a WebSocket does. The rules are those of the server's end,
 * `src/tabhub/wire/tunnel.py`; docs/tunnel.md has them in words.
 */

import { CommandError } from "../shared/command-errors.js";
import { noteFault } from "../shared/journal.js";

const PIECE_BYTES = 256 * 1024;
const FRAME_BYTES = 4 * PIECE_BYTES;
const FRAME_PIECES = 256;
const WINDOW_BYTES = 2 * FRAME_BYTES;
/** More are answered at once: the server waits with two, and sends others when it has something. */
const MOST_HELD = 4;
const HOLD_MS = 20_000;
const RESUME_MS = 60_000;
const MOST_SESSIONS = 64;
/** So that one client cannot keep others out. */
const MOST_OF_CLIENT = 16;
const MOST_BYTES = 64 * 1024 * 1024;
const LOST = 1006;

/**
 * @typedef {{number: number, text?: string, more?: boolean, close?: number}} Piece
 * @typedef {{session: string, turn: number, ack: number, pieces: Piece[]}} TunnelRequest
 * @typedef {{ack: number, pieces: Piece[], offer?: string}} TunnelAnswer
 * @typedef {{id: string, name: string}} Connection of a client, as the proxy's `status` has it
 * @typedef {{resolve: (answer: TunnelAnswer) => void, dueAt: number}} Held
 */

/** @param {string} text */
function sizeOf(text) {
  return new TextEncoder().encode(text).length;
}

/**
 * The parts of a message; no character is cut in two.
 * @param {string} text
 * @returns {string[]}
 */
export function cut(text) {
  if (text.length * 3 <= PIECE_BYTES) return [text];
  const body = new TextEncoder().encode(text);
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const parts = [];
  for (let start = 0, end; start < body.length; start = end) {
    end = boundary(body, start + PIECE_BYTES);
    parts.push(decoder.decode(body.subarray(start, end)));
  }
  return parts;
}

/**
 * @param {Uint8Array} body
 * @param {number} end
 */
function boundary(body, end) {
  while (end < body.length && ((body[end] ?? 0) & 0xc0) === 0x80) end--;
  return Math.min(end, body.length);
}

/** What we have sent and may have to send again. */
class OutgoingPieces {
  /** @type {{piece: Piece, size: number}[]} not acknowledged, in order */
  #kept = [];
  #last = 0;
  #acknowledged = 0;
  /** The number up to which they are on the way. */
  #sent = 0;
  #highest = 0;
  #bytesOnWay = 0;
  /** Bytes that are kept. */
  size = 0;

  /** @param {string} text */
  add(text) {
    const parts = cut(text);
    parts.forEach((part, i) => {
      const more = i < parts.length - 1 ? { more: true } : {};
      this.#keep({ number: ++this.#last, text: part, ...more }, sizeOf(part));
    });
  }

  /** @param {number} code */
  close(code) {
    this.#keep({ number: ++this.#last, close: code }, 0);
  }

  /**
   * @param {Piece} piece
   * @param {number} size
   */
  #keep(piece, size) {
    this.#kept.push({ piece, size });
    this.size += size;
  }

  get isEmpty() {
    return this.#kept.length === 0;
  }

  /** @param {number} number */
  requireSent(number) {
    if (number > this.#highest) throw invalid("A piece was acknowledged before it was sent.");
  }

  /** @param {number} number the other end has all pieces up to it */
  acknowledge(number) {
    const count = Math.max(0, number - this.#acknowledged);
    for (const { piece, size } of this.#kept.splice(0, count)) {
      this.size -= size;
      if (piece.number <= this.#sent) this.#bytesOnWay -= size;
    }
    this.#acknowledged = Math.max(this.#acknowledged, number);
    this.#sent = Math.max(this.#sent, this.#acknowledged);
  }

  /** Whatever is on the way counts as lost. */
  sendAgain() {
    this.#sent = this.#acknowledged;
    this.#bytesOnWay = 0;
  }

  /** Whether something can be sent now. */
  get isWaiting() {
    return this.#last > this.#sent && this.#bytesOnWay < WINDOW_BYTES;
  }

  /** @returns {Piece[]} the next ones to send, as many as fit into a frame */
  take() {
    /** @type {Piece[]} */
    const taken = [];
    let room = this.isWaiting ? FRAME_BYTES : 0;
    for (const { piece, size } of this.#kept.slice(this.#sent - this.#acknowledged)) {
      room -= size;
      if (room < 0 || taken.length === FRAME_PIECES) break;
      taken.push(piece);
      this.#bytesOnWay += size;
    }
    this.#sent += taken.length;
    this.#highest = Math.max(this.#highest, this.#sent);
    return taken;
  }
}

/** Puts the other end's messages together again. */
class IncomingPieces {
  /** @type {string[]} */
  #parts = [];
  #size = 0;
  #unacknowledged = 0;
  /** All pieces up to this number have come. */
  ack = 0;

  /** The number to tell the other end now. */
  acknowledge() {
    this.#unacknowledged = 0;
    return this.ack;
  }

  /** Whether so much has come that the other end may wait for the acknowledgement. */
  get isAckDue() {
    return this.#unacknowledged >= PIECE_BYTES;
  }

  /** @param {Piece[]} pieces of which none is taken if one is missing before them */
  requireOrder(pieces) {
    const first = pieces[0]?.number ?? 0;
    const isInOrder = pieces.every(({ number }, i) => number === first + i);
    const number = this.ack + 1;
    if (isInOrder && first <= number) return;
    const message = `Nothing was taken: piece ${number} has to come first.`;
    throw new CommandError("missing_piece", message, { ack: this.ack });
  }

  /**
   * @param {Piece[]} pieces
   * @returns {(string | {close: number})[]} the messages that are whole now
   */
  take(pieces) {
    return pieces.flatMap((piece) => (piece.number > this.ack ? this.#take(piece) : []));
  }

  /**
   * @param {Piece} piece
   * @returns {(string | {close: number})[]}
   */
  #take({ number, text = "", more, close }) {
    this.ack = number;
    if (close !== undefined) return [{ close }];
    const size = sizeOf(text);
    this.#parts.push(text);
    this.#size += size;
    this.#unacknowledged += size;
    if (this.#size > MOST_BYTES) throw tooLarge();
    if (more) return [];
    const whole = this.#parts.join("");
    this.#parts = [];
    this.#size = 0;
    return [whole];
  }
}

/** Our end of a session; to its owner it is a WebSocket. */
class TunnelSocket {
  #out = new OutgoingPieces();
  #in = new IncomingPieces();
  /** @type {Held[]} requests without an answer, oldest first */
  #held = [];
  #turn = 0;
  #connection;
  #forget;
  #emptyAt = Date.now();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {number} */
  readyState = WebSocket.OPEN;
  /** @type {((event: {data: string}) => void) | null} */
  onmessage = null;
  /** @type {((event: {code: number}) => void) | null} */
  onclose = null;

  /**
   * @param {Connection} connection
   * @param {() => void} forget called when it is over
   */
  constructor(connection, forget) {
    this.#connection = connection;
    this.#forget = forget;
    this.#arm();
  }

  get client() {
    return this.#connection.name;
  }

  get connectionId() {
    return this.#connection.id;
  }

  /** @param {string} text */
  send(text) {
    if (this.readyState !== WebSocket.OPEN) return;
    this.#out.add(text);
    if (this.#out.size > MOST_BYTES) this.end(LOST);
    else this.#flush();
  }

  /** @param {number} [code] */
  close(code = 1000) {
    if (this.readyState !== WebSocket.OPEN) return;
    this.readyState = WebSocket.CLOSING;
    this.#out.close(code);
    this.#flush();
    queueMicrotask(() => this.#closed(code));
  }

  /**
   * @param {Connection} connection that the request came on
   * @param {TunnelRequest} request
   * @returns {Promise<TunnelAnswer>}
   */
  take(connection, { turn, ack, pieces }) {
    this.#requireCurrent(connection, turn);
    this.#in.requireOrder(pieces);
    try {
      this.#out.requireSent(ack);
      this.#out.acknowledge(ack);
      if (turn > this.#turn) this.#resumed(connection, turn);
      return this.#hold(this.#in.take(pieces));
    } catch (error) {
      // What the server knows and what we know no longer agree.
      this.end(LOST);
      throw error;
    }
  }

  /**
   * @param {Connection} connection
   * @param {number} turn
   */
  #requireCurrent({ id }, turn) {
    if (turn > this.#turn || (turn === this.#turn && id === this.connectionId)) return;
    throw new CommandError("not_connected", "This session goes on in a later turn.");
  }

  /**
   * @param {Connection} connection
   * @param {number} turn
   */
  #resumed(connection, turn) {
    this.#turn = turn;
    this.#connection = connection;
    this.#releaseAll();
    this.#out.sendAgain();
  }

  /** The requests of a connection that has ended are answered to nobody. */
  left() {
    this.#releaseAll();
    this.#arm();
  }

  #releaseAll() {
    for (const { resolve } of this.#held.splice(0)) resolve({ ack: this.#in.ack, pieces: [] });
    this.#emptyAt = Date.now();
  }

  /**
   * @param {(string | {close: number})[]} arrived
   * @returns {Promise<TunnelAnswer>}
   */
  #hold(arrived) {
    /** @type {PromiseWithResolvers<TunnelAnswer>} */
    const { promise, resolve } = Promise.withResolvers();
    this.#held.push({ resolve, dueAt: Date.now() + HOLD_MS });
    for (const one of arrived) this.#deliver(one);
    if (this.readyState === WebSocket.CLOSING && this.#out.isEmpty) this.end(LOST);
    this.#flush();
    return promise;
  }

  /** @param {string | {close: number}} arrived */
  #deliver(arrived) {
    if (typeof arrived !== "string") return this.end(arrived.close);
    if (this.readyState !== WebSocket.OPEN) return;
    try {
      this.onmessage?.({ data: arrived });
    } catch (error) {
      noteFault(error);
    }
  }

  #flush() {
    while (this.#held.length && this.#isAnswerDue) this.#answer();
    this.#arm();
  }

  get #isAnswerDue() {
    return this.#out.isWaiting || this.#in.isAckDue || this.#held.length > MOST_HELD;
  }

  #answer() {
    const oldest = this.#held.shift();
    oldest?.resolve({ ack: this.#in.acknowledge(), pieces: this.#out.take() });
    if (!this.#held.length) this.#emptyAt = Date.now();
  }

  /** Wait until something has to happen by the clock. */
  #arm() {
    clearTimeout(this.#timer);
    if (this.readyState === WebSocket.CLOSED) return;
    const dueAt = this.#held[0]?.dueAt ?? this.#emptyAt + RESUME_MS;
    this.#timer = setTimeout(() => this.#due(), Math.max(0, dueAt - Date.now()));
  }

  #due() {
    const now = Date.now();
    while (this.#held[0] && this.#held[0].dueAt <= now) {
      // What was not acknowledged for so long may be lost.
      this.#out.sendAgain();
      this.#answer();
    }
    if (!this.#held.length && now >= this.#emptyAt + RESUME_MS) this.end(LOST);
    this.#arm();
  }

  /** @param {number} code */
  end(code) {
    this.#closed(code);
    this.readyState = WebSocket.CLOSED;
    this.#releaseAll();
    clearTimeout(this.#timer);
    this.#forget();
  }

  /** @param {number} code */
  #closed(code) {
    const tell = this.onclose;
    this.onclose = null;
    if (this.readyState === WebSocket.OPEN) this.readyState = WebSocket.CLOSING;
    tell?.({ code });
  }
}

/** All sessions. */
export class Tunnels {
  /** @type {Map<string, TunnelSocket>} */
  #sessions = new Map();
  #open;
  #offer;

  /**
   * @param {(connection: Connection, socket: TunnelSocket) => void} open takes the socket of each
   *   new session; what it throws refuses the session
   * @param {() => string} offer our version, as we offer it on a WebSocket
   */
  constructor(open, offer) {
    this.#open = open;
    this.#offer = offer;
  }

  /**
   * @param {Connection} connection
   * @param {unknown} params
   * @returns {Promise<TunnelAnswer>}
   */
  async take(connection, params) {
    const request = readRequest(params);
    if (request.turn === 0) return this.#begin(connection, request);
    const known = this.#sessions.get(request.session);
    // Whose session it is must not be learned by trying.
    if (known?.client !== connection.name) throw unknownSession();
    return known.take(connection, request);
  }

  /**
   * @param {Connection} connection
   * @param {TunnelRequest} request
   * @returns {TunnelAnswer}
   */
  #begin(connection, { session, ack, pieces }) {
    if (ack || pieces.length) throw invalid("The request that opens a session is empty.");
    if (this.#sessions.has(session)) throw new CommandError("duplicate_id", "It is open already.");
    this.#endOf(connection.id);
    this.#makeRoom(connection.name);
    if (this.#sessions.size >= MOST_SESSIONS) {
      throw new CommandError("too_many_calls", "There are too many sessions.");
    }
    const socket = new TunnelSocket(connection, () => this.#sessions.delete(session));
    try {
      this.#open(connection, socket);
    } catch (error) {
      socket.end(LOST);
      throw error;
    }
    this.#sessions.set(session, socket);
    return { ack: 0, pieces: [], offer: this.#offer() };
  }

  /** A connection has one session. @param {string} connectionId */
  #endOf(connectionId) {
    for (const socket of this.#of(connectionId)) socket.end(LOST);
  }

  /** @param {string} client whose oldest session ends if it has too many */
  #makeRoom(client) {
    const own = [...this.#sessions.values()].filter((one) => one.client === client);
    if (own.length >= MOST_OF_CLIENT) own[0].end(LOST);
  }

  /**
   * A connection has ended; its sessions wait a while for another one.
   * @param {string} connectionId
   */
  left(connectionId) {
    for (const socket of this.#of(connectionId)) socket.left();
  }

  /** @param {string} connectionId */
  #of(connectionId) {
    return [...this.#sessions.values()].filter((one) => one.connectionId === connectionId);
  }

  /** End all of them; their servers are told, if they still listen. @param {number} code */
  closeAll(code) {
    for (const socket of [...this.#sessions.values()]) socket.close(code);
  }
}

// Reading requests, which come from far away.

/**
 * @param {any} params
 * @returns {TunnelRequest}
 */
function readRequest(params) {
  const { session, turn, ack, pieces } = params ?? {};
  const isSession = typeof session === "string" && session.length >= 16 && session.length <= 64;
  if (!isSession || !isNatural(turn) || !isNatural(ack)) {
    throw invalid("session, turn and ack are needed.");
  }
  if (!Array.isArray(pieces) || pieces.length > FRAME_PIECES || !pieces.every(isPiece)) {
    throw invalid(`pieces must be at most ${FRAME_PIECES} pieces.`);
  }
  return { session, turn, ack, pieces };
}

/** @param {unknown} value */
function isNatural(value) {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** @param {any} value */
function isPiece(value) {
  const { number, text = "", more = false, close = 0 } = value ?? {};
  const isText = typeof text === "string" && text.length <= PIECE_BYTES;
  return isNatural(number) && number > 0 && isText && typeof more === "boolean" && isNatural(close);
}

/** @param {string} message */
function invalid(message) {
  return new CommandError("invalid_params", message);
}

function tooLarge() {
  return new CommandError("too_large", "A message is larger than the link carries.");
}

function unknownSession() {
  return new CommandError("unknown_session", "There is no such session; open another one.");
}
