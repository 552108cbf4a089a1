package io.idempotency.store;

import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * The origin of a claim: the node and the trace span in which it was made. Stores store
 * the origin with the claim and return it, so that operators can find the call of a
 * record or a replay. The protocol does not depend on the origin.
 *
 * @param node the name of the node, empty if unknown: at most 64 printable ASCII
 * characters without spaces
 * @param traceId the id of the trace, {@code null} if the call is not traced: 1 to 32
 * letters and digits
 * @param spanId the id of the span in the trace, {@code null} if the call is not traced:
 * 1 to 16 letters and digits
 * @since 0.1.0
 */
public record ClaimOrigin(String node, @Nullable String traceId, @Nullable String spanId) {

	/** The unknown origin. */
	public static final ClaimOrigin UNKNOWN = new ClaimOrigin("", null, null);

	/** The maximum length of the text form. */
	public static final int MAX_LENGTH = 114;

	private static final int NODE_LENGTH = 64;

	private static final int TRACE_ID_LENGTH = 32;

	private static final int SPAN_ID_LENGTH = 16;

	/**
	 * Validates the components.
	 */
	public ClaimOrigin {
		Objects.requireNonNull(node, "node");
		if (!isNode(node)) {
			throw new IllegalArgumentException("A node name must have at most " + NODE_LENGTH + " printable ASCII "
					+ "characters without spaces, not '" + node + "'");
		}
		if ((traceId == null) != (spanId == null)) {
			throw new IllegalArgumentException("A trace id requires a span id, and a span id requires a trace id");
		}
		if (traceId != null && spanId != null && !(isId(traceId, TRACE_ID_LENGTH) && isId(spanId, SPAN_ID_LENGTH))) {
			throw new IllegalArgumentException("A trace id must have 1 to " + TRACE_ID_LENGTH + " letters and "
					+ "digits, and a span id 1 to " + SPAN_ID_LENGTH + ", not '" + traceId + "' and '" + spanId + "'");
		}
	}

	private static boolean isNode(String node) {
		for (int i = 0; i < node.length(); i++) {
			if (node.charAt(i) < '!' || node.charAt(i) > '~') {
				return false;
			}
		}
		return node.length() <= NODE_LENGTH;
	}

	private static boolean isId(String id, int maxLength) {
		if (id.isEmpty() || id.length() > maxLength) {
			return false;
		}
		for (int i = 0; i < id.length(); i++) {
			char c = id.charAt(i);
			if (!(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z')) {
				return false;
			}
		}
		return true;
	}

	/**
	 * Returns this origin within a span.
	 * @param trace the id of the trace
	 * @param span the id of the span
	 * @return the origin
	 */
	public ClaimOrigin in(String trace, String span) {
		return new ClaimOrigin(this.node, trace, span);
	}

	/**
	 * Parses the result of {@link #toString()}. The origin is only displayed to
	 * operators, so an invalid text results in {@link #UNKNOWN} instead of an error.
	 * @param text the text, {@code null} if the store has none
	 * @return the origin
	 */
	public static ClaimOrigin parse(@Nullable String text) {
		if (text == null || text.isEmpty()) {
			return UNKNOWN;
		}
		int trace = text.indexOf(' ');
		int span = text.lastIndexOf(' ');
		try {
			return (trace < span) ? new ClaimOrigin(text.substring(0, trace), text.substring(trace + 1, span),
					text.substring(span + 1)) : new ClaimOrigin(text, null, null);
		}
		catch (IllegalArgumentException ex) {
			return UNKNOWN;
		}
	}

	/**
	 * Returns the node, followed by the trace id and the span id if present, separated by
	 * spaces.
	 */
	@Override
	public String toString() {
		return (this.traceId != null) ? this.node + " " + this.traceId + " " + this.spanId : this.node;
	}

}
