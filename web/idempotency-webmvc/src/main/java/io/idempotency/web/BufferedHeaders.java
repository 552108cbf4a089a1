package io.idempotency.web;

import java.nio.charset.Charset;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import io.idempotency.http.StoredResponse.AmbientHeaders;
import io.idempotency.http.StoredResponse.Header;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import org.jspecify.annotations.Nullable;

/**
 * The status and the headers of a buffered response. They are set on the wrapped response
 * at once, because they do not commit it. Only the declared length is kept back, because
 * some containers end a response as soon as that number of bytes is written.
 */
abstract class BufferedHeaders extends HttpServletResponseWrapper {

	private static final long UNKNOWN_LENGTH = -1;

	private static final AmbientHeaders NONE = new AmbientHeaders(List.of(), (name) -> List.of());

	private long contentLength = UNKNOWN_LENGTH;

	/** The status that was set through this wrapper, or the initial status. */
	private int ownStatus;

	private @Nullable Locale locale;

	/** The headers before the response was buffered, which the handler did not set. */
	private AmbientHeaders ambient = NONE;

	BufferedHeaders(HttpServletResponse response) {
		super(response);
	}

	/** Returns whether the whole response is buffered. */
	abstract boolean isHolding();

	/** Returns whether changes no longer have an effect, as after a commit. */
	abstract boolean isOver();

	/**
	 * Returns whether a writer was obtained. Its encoding is part of the content type.
	 */
	abstract boolean isEncodingPinned();

	final long contentLength() {
		return this.contentLength;
	}

	final void declareContentLength() {
		if (this.contentLength != UNKNOWN_LENGTH) {
			super.setContentLengthLong(this.contentLength);
		}
	}

	final void resetHeld() {
		this.contentLength = UNKNOWN_LENGTH;
		this.locale = null;
		this.ownStatus = super.getStatus();
	}

	/** Records the initial status and headers of the response. */
	final void beginHeaders() {
		this.ownStatus = super.getStatus();
		if (this.ambient == NONE) {
			this.ambient = new AmbientHeaders(getHeaderNames(), this::getHeaders);
		}
	}

	/** Restores the initial headers of the response. */
	final void restoreHeaders() {
		this.ambient.forEach(super::addHeader);
	}

	/**
	 * Returns whether the wrapped response has an error status that was not set through
	 * this wrapper. A container sets such a status if the body ends early while the
	 * handler reads it, because the container does not use the wrapper. The response is
	 * then committed, which distinguishes the error from the same status set by the
	 * handler: buffered output does not commit the response.
	 */
	public final boolean isErrorOfContainer() {
		int status = super.getStatus();
		return status >= SC_BAD_REQUEST && (status != this.ownStatus || isHolding() && super.isCommitted());
	}

	/**
	 * Takes over the headers of the previous wrapper, and its locale, which cannot be
	 * read as a header.
	 */
	final void inherit(BufferedHeaders previous) {
		this.locale = previous.locale;
		this.ambient = previous.ambient;
	}

	/** Returns the headers that the handler set or changed. */
	final List<Header> changes() {
		return changes(Set.of());
	}

	final List<Header> changes(Set<String> excluded) {
		List<Header> changes = this.ambient.changes(getHeaderNames(), this::getHeaders, excluded);
		if (this.locale != null && !containsHeader("Content-Language") && !excluded.contains("content-language")) {
			// Some containers do not include the language in their headers.
			changes.add(new Header("Content-Language", true, List.of(this.locale.toLanguageTag())));
		}
		return changes;
	}

	@Override
	public void setStatus(int status) {
		if (!isOver()) {
			this.ownStatus = status;
			super.setStatus(status);
		}
	}

	@Override
	public void setContentLength(int length) {
		setContentLengthLong(length);
	}

	@Override
	public void setContentLengthLong(long length) {
		if (isHolding()) {
			this.contentLength = length;
		}
		else if (!isOver()) {
			super.setContentLengthLong(length);
		}
	}

	@Override
	public void setContentType(@Nullable String type) {
		if (isOver()) {
			return;
		}
		super.setContentType(
				(isEncodingPinned() && type != null) ? type.replaceAll("(?i);\\s*charset=[^;]*", "") : type);
	}

	@Override
	public void setCharacterEncoding(String encoding) {
		if (!isEncodingPinned() && !isOver()) {
			super.setCharacterEncoding(encoding);
		}
	}

	/** Overrides a method of Servlet 6.1, which older containers do not call. */
	public void setCharacterEncoding(Charset encoding) {
		setCharacterEncoding(encoding.name());
	}

	@Override
	public void setLocale(Locale newLocale) {
		if (!isOver()) {
			this.locale = isHolding() ? newLocale : null;
			super.setLocale(newLocale);
		}
	}

	@Override
	public void setHeader(String name, @Nullable String value) {
		if (!isOver() && !setSpecialHeader(name, value)) {
			super.setHeader(name, value);
		}
	}

	@Override
	public void addHeader(String name, @Nullable String value) {
		if (!isOver() && !setSpecialHeader(name, value)) {
			super.addHeader(name, value);
		}
	}

	private boolean setSpecialHeader(String name, @Nullable String value) {
		if (!isHolding()) {
			return false;
		}
		if ("Content-Length".equalsIgnoreCase(name)) {
			return setContentLength(value);
		}
		if ("Content-Type".equalsIgnoreCase(name) && isEncodingPinned()) {
			setContentType(value);
			return true;
		}
		return false;
	}

	/**
	 * Keeps a declared length back.
	 * @return {@code false} for any other value, which is passed to the container
	 */
	private boolean setContentLength(@Nullable String value) {
		try {
			this.contentLength = (value != null) ? Long.parseLong(value.strip()) : UNKNOWN_LENGTH;
			return true;
		}
		catch (NumberFormatException ex) {
			return false;
		}
	}

	@Override
	public void setIntHeader(String name, int value) {
		setHeader(name, Integer.toString(value));
	}

	@Override
	public void addIntHeader(String name, int value) {
		addHeader(name, Integer.toString(value));
	}

	@Override
	public void setDateHeader(String name, long date) {
		if (!isOver()) {
			super.setDateHeader(name, date);
		}
	}

	@Override
	public void addDateHeader(String name, long date) {
		if (!isOver()) {
			super.addDateHeader(name, date);
		}
	}

}
