package io.idempotency.web;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;

import io.idempotency.http.StoredResponse;
import io.idempotency.http.StoredResponse.EndedBy;
import io.idempotency.web.BufferedBody.Mode;
import io.idempotency.web.ResponseReplay.PendingStatus;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import org.jspecify.annotations.Nullable;

/**
 * Wraps a response. All output passes through until a guarded call is claimed. After that
 * the response is buffered, so that the record is complete before the client can see the
 * end of the response.
 * <p>
 * Status and headers are set on the wrapped response at once, because they do not commit
 * it. The body, its declared length, a flush, an error and a redirect would commit it.
 * They are buffered and sent by {@link #push()}.
 */
final class BufferingResponse extends BufferedHeaders {

	private final BufferedBody body = new BufferedBody(this::wrappedOutputStream);

	private @Nullable BufferedOutputStream stream;

	private @Nullable PrintWriter writer;

	private boolean wrappedWriterUsed;

	private boolean streamUsed;

	private @Nullable PendingStatus pendingStatus;

	/** The encoding that an outer filter set. */
	private @Nullable String givenEncoding;

	private Runnable beforeOutput = () -> {
	};

	public BufferingResponse(HttpServletResponse response) {
		super(response);
	}

	private ServletOutputStream wrappedOutputStream() throws IOException {
		return wrapped().getOutputStream();
	}

	/** Returns the wrapped response. Output to it reaches the client. */
	public HttpServletResponse wrapped() {
		return (HttpServletResponse) getResponse();
	}

	/**
	 * Buffers the response from now on, unless a part of it was already sent.
	 * @param maxBytes the maximum size in bytes of a buffered body
	 */
	public void hold(long maxBytes) {
		this.body.hold(maxBytes, this::beginOutput);
		beginHeaders();
		this.givenEncoding = getCharacterEncoding();
		if (this.wrappedWriterUsed || this.body.isWritten() || isCommitted()) {
			this.body.drop(Mode.STREAM);
		}
	}

	private void beginOutput() {
		this.beforeOutput.run();
		declareContentLength();
	}

	/**
	 * Sets a task that runs before buffered output passes through, because it is too
	 * large or turned out to be a stream. If the task throws an exception, the output
	 * does not pass through.
	 */
	public void beforeOutput(Runnable task) {
		this.beforeOutput = task;
	}

	/**
	 * Discards the buffer and all changes since the response is buffered. A new session
	 * remains, and the container sends its cookie only once.
	 */
	public void startAnew(@Nullable HttpSession session) {
		if (!isHolding() || wrapped().isCommitted()) {
			return;
		}
		List<String> cookies = List.copyOf(getHeaders("Set-Cookie"));
		this.pendingStatus = null;
		this.body.startAnew();
		reset();
		if (this.givenEncoding != null && !this.givenEncoding.equals(getCharacterEncoding())) {
			setCharacterEncoding(this.givenEncoding);
		}
		restoreHeaders();
		if (session != null && session.isNew()) {
			cookies.stream()
				.filter((cookie) -> cookie.contains("=" + session.getId()))
				.forEach((cookie) -> addHeader("Set-Cookie", cookie));
		}
	}

	/** Sends the buffered output, and passes all output through from now on. */
	public void stream() throws IOException {
		this.body.stream();
	}

	/** Sets a condition for a stream, which is checked before each output. */
	public void streamIf(BooleanSupplier condition) {
		this.body.streamIf(condition);
	}

	/**
	 * Drops the buffered output and passes everything through, because another wrapper
	 * now buffers the response.
	 */
	public void pass() {
		this.body.drop(Mode.PASS);
		this.pendingStatus = null;
	}

	/** Drops the buffered output and all later output. */
	public void close() {
		this.body.drop(Mode.CLOSED);
	}

	/** Returns whether the whole response is buffered. */
	public boolean isHeld() {
		return this.body.mode() == Mode.HOLD;
	}

	/**
	 * Returns whether the buffered output is the whole response. It is not if other code
	 * sent output without this wrapper.
	 */
	public boolean isWhole() {
		return isHeld() && !wrapped().isCommitted();
	}

	/** Returns whether the response is an error that the container will render. */
	public boolean isError() {
		return this.pendingStatus != null && this.pendingStatus.ending() == EndedBy.ERROR;
	}

	/**
	 * Returns whether the response is still empty: no body, no error, and the status is
	 * 200.
	 */
	public boolean isEmptySuccess() {
		return isHeld() && this.pendingStatus == null && getStatus() == SC_OK && this.body.isEmpty();
	}

	/** Returns whether the response passes through as a stream. */
	public boolean isStreaming() {
		return this.body.mode() == Mode.STREAM;
	}

	/**
	 * Returns the buffered response.
	 * @param excluded names of headers that are never stored, in lower case
	 * @return the response, whose body is not a copy
	 */
	public StoredResponse snapshot(Set<String> excluded) {
		PendingStatus end = this.pendingStatus;
		EndedBy ending = (end != null) ? end.ending() : EndedBy.BODY;
		return new StoredResponse(ending, getStatus(), getContentType(), contentLength(),
				(end != null) ? end.text() : null, changes(excluded), this.body.buffered());
	}

	/** Sends the buffered output, followed by the requested error, redirect or flush. */
	public void push() throws IOException {
		Mode mode = this.body.mode();
		if (mode == Mode.OVERFLOW) {
			this.body.sendTail();
		}
		if (mode != Mode.HOLD) {
			return;
		}
		ByteBuffer held = this.body.buffered();
		close();
		ResponseReplay.sendBody(wrapped(), held, contentLength());
		if (this.pendingStatus != null) {
			this.pendingStatus.send(wrapped());
		}
		else if (this.body.isFlushRequested()) {
			wrapped().flushBuffer();
		}
	}

	@Override
	boolean isHolding() {
		return this.body.mode() == Mode.HOLD;
	}

	@Override
	boolean isOver() {
		return this.pendingStatus != null || this.body.mode() == Mode.CLOSED;
	}

	@Override
	boolean isEncodingPinned() {
		return this.writer != null;
	}

	@Override
	public ServletOutputStream getOutputStream() throws IOException {
		if (this.writer != null) {
			throw new IllegalStateException("getWriter() was called for this response");
		}
		if (this.body.mode() == Mode.PASS) {
			// The container checks whether the stream may be used.
			wrappedOutputStream();
		}
		this.streamUsed = true;
		return heldStream();
	}

	private BufferedOutputStream heldStream() {
		if (this.stream == null) {
			this.stream = new BufferedOutputStream(this.body);
		}
		return this.stream;
	}

	@Override
	public PrintWriter getWriter() throws IOException {
		if (this.body.mode() == Mode.PASS) {
			PrintWriter wrappedWriter = super.getWriter();
			this.wrappedWriterUsed = true;
			return wrappedWriter;
		}
		if (this.writer == null) {
			if (this.streamUsed) {
				throw new IllegalStateException("getOutputStream() was called for this response");
			}
			// The encoding of a writer becomes part of the content type, as in the
			// container.
			String encoding = getCharacterEncoding();
			super.setCharacterEncoding(encoding);
			this.writer = new PrintWriter(new BufferedOutputStream.UnbufferedWriter(heldStream(), encoding));
		}
		return this.writer;
	}

	@Override
	public void flushBuffer() throws IOException {
		if (this.body.mode() == Mode.PASS) {
			super.flushBuffer();
		}
		else {
			this.body.flush();
		}
	}

	@Override
	public void resetBuffer() {
		if (isHolding()) {
			requireNotOver();
			this.body.reset();
		}
		else if (!isOver()) {
			super.resetBuffer();
		}
	}

	@Override
	public void reset() {
		if (isHolding()) {
			requireNotOver();
			this.body.reset();
			forgetOutput();
			super.reset();
			resetHeld();
		}
		else if (!isOver()) {
			super.reset();
			forgetOutput();
		}
	}

	/**
	 * Allows the handler to choose between stream and writer again, as the container
	 * does.
	 */
	private void forgetOutput() {
		this.writer = null;
		this.streamUsed = false;
	}

	@Override
	public boolean isCommitted() {
		return isOver() || super.isCommitted();
	}

	private void requireNotOver() {
		if (this.pendingStatus != null) {
			throw new IllegalStateException("The response was already completed by an error or a redirect");
		}
	}

	@Override
	public void sendError(int status) throws IOException {
		end(new PendingStatus(EndedBy.ERROR, status, null, true));
	}

	@Override
	public void sendError(int status, @Nullable String message) throws IOException {
		end(new PendingStatus(EndedBy.ERROR, status, message, true));
	}

	@Override
	public void sendRedirect(String location) throws IOException {
		sendRedirect(location, HttpServletResponse.SC_FOUND, true);
	}

	/** Overrides a method of Servlet 6.1, which older containers do not call. */
	public void sendRedirect(String location, int status) throws IOException {
		sendRedirect(location, status, true);
	}

	/** Overrides a method of Servlet 6.1, which older containers do not call. */
	public void sendRedirect(String location, boolean clearBuffer) throws IOException {
		sendRedirect(location, HttpServletResponse.SC_FOUND, clearBuffer);
	}

	/**
	 * Overrides a method of Servlet 6.1, which older containers do not call.
	 * @param location the target
	 * @param status the status code
	 * @param clearBuffer whether the body is dropped
	 * @throws IOException if the redirect could not be sent
	 */
	public void sendRedirect(String location, int status, boolean clearBuffer) throws IOException {
		end(new PendingStatus(EndedBy.REDIRECT, status, location, clearBuffer));
	}

	private void end(PendingStatus end) throws IOException {
		if (isHolding()) {
			requireNotOver();
			if (end.clearBuffer()) {
				this.body.reset();
			}
			this.pendingStatus = end;
			this.body.ignoreWrites();
		}
		else if (!isOver()) {
			end.send(wrapped());
		}
	}

	@Override
	public int getStatus() {
		return (this.pendingStatus != null) ? this.pendingStatus.status() : super.getStatus();
	}

}
