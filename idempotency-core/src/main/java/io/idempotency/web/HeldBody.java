package io.idempotency.web;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

import jakarta.servlet.ServletOutputStream;

/**
 * The body of an answer: held back until its record is complete, or passed through. A
 * body that is larger than the limit passes through but for its last byte, so that the
 * client never sees its end before the record is complete.
 * <p>
 * A worker whose answer has timed out may still write while the request thread ends the
 * answer, so all but the plain pass-through is guarded by a lock.
 */
final class HeldBody {

	private static final BooleanSupplier NEVER = () -> false;

	private final Target target;

	private final AllButLastByte overLimit;

	private final Lock lock = new ReentrantLock();

	private volatile Mode mode = Mode.PASS;

	private ByteSink held = new ByteSink(0);

	private long limit;

	private BooleanSupplier streaming = NEVER;

	private Runnable beforeOverflow = () -> {
	};

	private boolean flushRequested;

	private volatile boolean ended;

	private boolean written;

	HeldBody(Target target) {
		this.target = target;
		this.overLimit = new AllButLastByte(target);
	}

	/**
	 * Holds back what is written from now on.
	 * @param maxBytes how many bytes at most
	 * @param onOverflow called before bytes over the limit pass through
	 */
	void hold(long maxBytes, Runnable onOverflow) {
		this.limit = maxBytes;
		this.beforeOverflow = onOverflow;
		this.held = new ByteSink();
		this.mode = Mode.HOLD;
	}

	/** Asks before each output whether the answer has turned out to be a stream. */
	void streamIf(BooleanSupplier condition) {
		this.streaming = condition;
	}

	/** Passes through from now on, what is held first; nothing is kept back any more. */
	void stream() throws IOException {
		this.lock.lock();
		try {
			if (this.mode == Mode.HOLD) {
				startStream();
			}
			else if (this.mode == Mode.OVERFLOW) {
				sendTail();
				this.mode = Mode.STREAM;
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	private void startStream() throws IOException {
		this.mode = Mode.STREAM;
		this.beforeOverflow.run();
		if (this.held.size() > 0) {
			target().write(this.held.array(), 0, this.held.size());
		}
		if (this.flushRequested) {
			target().flush();
		}
		this.held = new ByteSink(0);
	}

	/** Drops what is held and whatever is written later. */
	void close() {
		this.lock.lock();
		try {
			this.mode = Mode.CLOSED;
			this.held = new ByteSink(0);
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Passes through as if nothing had been held; what is held is dropped. */
	void pass() {
		this.mode = Mode.PASS;
		this.held = new ByteSink(0);
	}

	void write(byte[] bytes, int offset, int length) throws IOException {
		if (this.mode == Mode.PASS) {
			this.written = true;
			target().write(bytes, offset, length);
			return;
		}
		this.lock.lock();
		try {
			writeGuarded(bytes, offset, length);
		}
		finally {
			this.lock.unlock();
		}
	}

	private void writeGuarded(byte[] bytes, int offset, int length) throws IOException {
		if (this.mode == Mode.HOLD && this.streaming.getAsBoolean()) {
			startStream();
		}
		if (this.mode == Mode.HOLD && !this.ended && this.held.size() + (long) length > this.limit) {
			overflow();
		}
		switch (this.mode) {
			case HOLD -> {
				if (!this.ended) {
					this.held.write(bytes, offset, length);
				}
			}
			case OVERFLOW -> this.overLimit.write(bytes, offset, length);
			case PASS, STREAM -> target().write(bytes, offset, length);
			case CLOSED -> {
				// The answer has ended: nobody would read it.
			}
		}
	}

	private void overflow() {
		this.mode = Mode.OVERFLOW;
		this.beforeOverflow.run();
		ByteSink first = this.held;
		this.held = new ByteSink(0);
		this.overLimit.write(first.array(), 0, first.size());
		if (this.flushRequested) {
			this.overLimit.flush();
		}
	}

	void flush() throws IOException {
		if (this.mode == Mode.PASS) {
			target().flush();
			return;
		}
		this.lock.lock();
		try {
			this.flushRequested = true;
			if (this.mode == Mode.HOLD && this.streaming.getAsBoolean()) {
				startStream();
			}
			else if (this.mode == Mode.OVERFLOW) {
				this.overLimit.flush();
			}
			else if (this.mode == Mode.STREAM) {
				target().flush();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/** The answer is ended in another way: what is written from now on is dropped. */
	void ignoreWrites() {
		this.ended = true;
	}

	/**
	 * The handler closes its stream: the answer ends when its record is complete, unless
	 * it passes through.
	 */
	void closeStream() throws IOException {
		if (this.mode == Mode.PASS || this.mode == Mode.STREAM) {
			target().close();
		}
		else {
			flush();
		}
	}

	/** Drops what is held, as a response does whose buffer is reset. */
	void reset() {
		this.lock.lock();
		try {
			this.held.truncate(0);
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Sends the last byte of a body that was over the limit. */
	void sendTail() {
		this.lock.lock();
		try {
			this.overLimit.end();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Whether something was passed through before it could be held. */
	boolean isWritten() {
		return this.written;
	}

	Mode mode() {
		return this.mode;
	}

	boolean isFlushRequested() {
		return this.flushRequested;
	}

	/** What is held, not a copy. */
	ByteBuffer held() {
		return this.held.toBuffer();
	}

	ServletOutputStream target() throws IOException {
		return this.target.open();
	}

	/**
	 * What happens to the bytes that are written.
	 */
	enum Mode {

		/** Passed through: no guarded call is under way. */
		PASS,

		/** Held back. */
		HOLD,

		/** Too large: passed through but for the last byte. */
		OVERFLOW,

		/** A stream: passed through as it comes. */
		STREAM,

		/** Dropped: the answer has ended. */
		CLOSED

	}

	/**
	 * Opens the stream of the response that is wrapped.
	 */
	@FunctionalInterface
	interface Target {

		ServletOutputStream open() throws IOException;

	}

}
