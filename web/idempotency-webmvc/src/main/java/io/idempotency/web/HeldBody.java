package io.idempotency.web;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

import io.idempotency.http.ByteSink;
import jakarta.servlet.ServletOutputStream;

/**
 * The body of an answer: held back until its record is complete, or passed through. A
 * body that is larger than the limit passes through except for its last byte, so that the
 * client never sees its end before the record is complete.
 * <p>
 * A worker whose answer has timed out may still write while the request thread ends the
 * answer, so a lock guards all modes but the plain pass-through.
 */
final class HeldBody {

	private static final BooleanSupplier NEVER = () -> false;

	/**
	 * What is held in all modes but one. All answers share it, so nobody may write to it:
	 * it is taken under the lock that a writer holds from its look at the mode on.
	 */
	private static final ByteSink NOTHING = new ByteSink();

	private final Target target;

	private final AllButLastByte overLimit;

	private final Lock lock = new ReentrantLock();

	private volatile Mode mode = Mode.PASS;

	private ByteSink held = NOTHING;

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
	 * Holds back all output from now on.
	 * @param maxBytes the largest number of bytes that is held
	 * @param onOverflow called before bytes over the limit pass through
	 */
	void hold(long maxBytes, Runnable onOverflow) {
		this.limit = maxBytes;
		this.beforeOverflow = onOverflow;
		this.held = new ByteSink();
		this.mode = Mode.HOLD;
	}

	/** Checks before each output whether the answer has turned out to be a stream. */
	void streamIf(BooleanSupplier condition) {
		this.streaming = condition;
	}

	/** Sends the held bytes and passes all output through from now on. */
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
		this.beforeOverflow.run();
		this.mode = Mode.STREAM;
		if (this.held.size() > 0) {
			target().write(this.held.array(), 0, this.held.size());
		}
		if (this.flushRequested) {
			target().flush();
		}
		this.held = NOTHING;
	}

	/** Drops the held bytes and all later output. */
	void close() {
		this.lock.lock();
		try {
			this.mode = Mode.CLOSED;
			this.held = NOTHING;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Drops the held bytes and passes all output through, as if nothing had been held.
	 */
	void pass() {
		this.lock.lock();
		try {
			this.mode = Mode.PASS;
			this.held = NOTHING;
		}
		finally {
			this.lock.unlock();
		}
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
				// The answer has ended, so the output has no reader.
			}
		}
	}

	private void overflow() {
		this.beforeOverflow.run();
		this.mode = Mode.OVERFLOW;
		ByteSink first = this.held;
		this.held = NOTHING;
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

	/** Drops what is held and what was asked for, as if nothing had been written. */
	void startAnew() {
		reset();
		this.ended = false;
		this.flushRequested = false;
	}

	/** Drops all later output, because an error or a redirect ends the answer. */
	void ignoreWrites() {
		this.ended = true;
	}

	/**
	 * Is told that the handler closes its stream. An answer that is held back ends only
	 * when its record is complete; an answer that passes through ends at once.
	 */
	void closeStream() throws IOException {
		if (this.mode == Mode.PASS || this.mode == Mode.STREAM) {
			target().close();
		}
		else {
			flush();
		}
	}

	/** Drops the held bytes, as a response does when its buffer is reset. */
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

	/** Returns whether output was passed through before it could be held. */
	boolean isWritten() {
		return this.written;
	}

	Mode mode() {
		return this.mode;
	}

	boolean isFlushRequested() {
		return this.flushRequested;
	}

	boolean isEmpty() {
		return this.held.size() == 0;
	}

	/** Returns the held bytes, not a copy. */
	ByteBuffer held() {
		return this.held.toBuffer();
	}

	ServletOutputStream target() throws IOException {
		return this.target.open();
	}

	/**
	 * The way in which output is treated.
	 */
	enum Mode {

		/** Output passes through, because no guarded call is under way. */
		PASS,

		/** Output is held back. */
		HOLD,

		/** The body is too large: all but its last byte passes through. */
		OVERFLOW,

		/** The answer is a stream, and output passes through as it comes. */
		STREAM,

		/** The answer has ended, and output is dropped. */
		CLOSED

	}

	/**
	 * Opens the stream of the wrapped response.
	 */
	@FunctionalInterface
	interface Target {

		ServletOutputStream open() throws IOException;

	}

	/**
	 * The client's side of a body over the limit: everything passes through but the last
	 * byte, so that the client never sees the end before the record is complete.
	 */
	private static final class AllButLastByte {

		private final Target target;

		private int last = -1;

		private boolean clientGone;

		AllButLastByte(Target target) {
			this.target = target;
		}

		void write(byte[] bytes, int offset, int length) {
			if (length == 0) {
				return;
			}
			toClient((out) -> {
				if (this.last >= 0) {
					out.write(this.last);
				}
				out.write(bytes, offset, length - 1);
			});
			this.last = bytes[offset + length - 1] & 0xFF;
		}

		void flush() {
			toClient(ServletOutputStream::flush);
		}

		/** Sends the last byte, once. */
		void end() {
			if (this.last >= 0) {
				toClient((out) -> out.write(this.last));
				this.last = -1;
			}
		}

		/**
		 * A client that hangs up changes nothing: the handler goes on, and the record is
		 * completed.
		 */
		private void toClient(Output output) {
			if (this.clientGone) {
				return;
			}
			try {
				output.writeTo(this.target.open());
			}
			catch (IOException ex) {
				this.clientGone = true;
			}
		}

		/**
		 * Writes something.
		 */
		@FunctionalInterface
		private interface Output {

			void writeTo(ServletOutputStream out) throws IOException;

		}

	}

}
