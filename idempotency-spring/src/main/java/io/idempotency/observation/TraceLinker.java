package io.idempotency.observation;

import io.idempotency.store.ClaimOrigin;
import io.micrometer.observation.Observation;
import io.micrometer.tracing.Link;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.handler.TracingObservationHandler;
import org.jspecify.annotations.Nullable;

/**
 * Finds the trace in which a call runs, and links a replay to the trace of its run.
 * Thread-safe.
 * <p>
 * A link can be added to a span only before the span starts. The span of a call starts
 * before the result of its claim is known. The link therefore gets a separate short span,
 * below that of the call.
 */
final class TraceLinker {

	private final Tracer tracer;

	private final ClaimOrigin node;

	/**
	 * Creates the linker of one node.
	 * @param tracer returns the current span
	 * @param node the origin of claims that are not traced
	 */
	TraceLinker(Tracer tracer, ClaimOrigin node) {
		this.tracer = tracer;
		this.node = node;
	}

	/**
	 * Returns the origin of a claim that the current thread makes. A trace that is not
	 * sampled also counts: its id is in the logs of the call.
	 */
	ClaimOrigin current() {
		Span span = this.tracer.currentSpan();
		if (span == null) {
			return this.node;
		}
		TraceContext context = span.context();
		return (isId(context.traceId()) && isId(context.spanId())) ? this.node.in(context.traceId(), context.spanId())
				: this.node;
	}

	/**
	 * Returns whether a text is a real id: the id of a no-op span is empty or zeros.
	 */
	private static boolean isId(String id) {
		for (int i = 0; i < id.length(); i++) {
			if (id.charAt(i) != '0') {
				return true;
			}
		}
		return false;
	}

	void link(ClaimOrigin first, Observation.Context replay) {
		TraceContext parent = parent(replay);
		if (parent == null || first.traceId() == null || first.spanId() == null) {
			return;
		}
		TraceContext run = this.tracer.traceContextBuilder()
			.traceId(first.traceId())
			.spanId(first.spanId())
			.sampled(true)
			.build();
		this.tracer.spanBuilder()
			.setParent(parent)
			.name("idempotency replay of run")
			.addLink(new Link(run))
			.start()
			.end();
	}

	/** Returns the span of the replay, {@code null} if that span is not recorded. */
	private static @Nullable TraceContext parent(Observation.Context replay) {
		TracingObservationHandler.TracingContext tracing = replay.get(TracingObservationHandler.TracingContext.class);
		Span span = (tracing != null) ? tracing.getSpan() : null;
		return (span != null && !span.isNoop()) ? span.context() : null;
	}

}
