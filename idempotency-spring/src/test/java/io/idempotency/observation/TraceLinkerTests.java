package io.idempotency.observation;

import java.util.List;
import java.util.Objects;

import io.idempotency.IdempotencyListener;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyOutcome;
import io.idempotency.IdempotencyRecord;
import io.idempotency.codec.json.Jackson2ResultCodec;
import io.idempotency.engine.EngineObserver;
import io.idempotency.engine.EngineRuntime.DetachedCalls;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.key.Caller;
import io.idempotency.key.Namespace;
import io.idempotency.engine.GuardedCall;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.RecordKey;
import io.idempotency.store.Scheduler;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import io.idempotency.engine.DefaultIdempotencyTemplate;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.handler.DefaultTracingObservationHandler;
import io.micrometer.tracing.otel.bridge.OtelCurrentTraceContext;
import io.micrometer.tracing.otel.bridge.OtelTracer;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The way from a replay to its run, in the traces of OpenTelemetry. */
class TraceLinkerTests {

	private static final ClaimOrigin NODE = new ClaimOrigin("node-1", null, null);

	private static final String LINK = "idempotency replay of run";

	private final InMemorySpanExporter exporter = InMemorySpanExporter.create();

	private final MemoryIdempotencyStore store = new MemoryIdempotencyStore(1_000_000);

	private final Scheduler scheduler = Scheduler.system();

	private final ObservationRegistry observations = ObservationRegistry.create();

	private SdkTracerProvider provider;

	private IdempotencyEngine engine;

	@AfterEach
	void close() {
		this.engine.close();
		this.scheduler.close();
		this.provider.close();
	}

	private Tracer start(Sampler sampler) {
		this.provider = SdkTracerProvider.builder()
			.setSampler(sampler)
			.addSpanProcessor(SimpleSpanProcessor.create(this.exporter))
			.build();
		OtelTracer tracer = new OtelTracer(this.provider.get("test"), new OtelCurrentTraceContext(), (event) -> {
		});
		this.observations.observationConfig().observationHandler(new DefaultTracingObservationHandler(tracer));
		TraceLinker traceLinker = new TraceLinker(tracer, NODE);
		start(new MicrometerObserver(NODE, this.observations, null, null, traceLinker, null));
		return tracer;
	}

	private void start(EngineObserver observer) {
		this.engine = new IdempotencyEngine(1, DetachedCalls.Limits.DEFAULTS, IdempotencyListener.NONE, this.scheduler,
				() -> null, null, observer);
	}

	/** Pays within the trace of a request, and returns the answer. */
	private String pay(String request, String answer) {
		DefaultIdempotencyTemplate template = new DefaultIdempotencyTemplate(this.engine, this.store,
				new Jackson2ResultCodec(), IdempotencyOptions.DEFAULTS);
		Observation observation = Observation.start(request, this.observations);
		return String.valueOf(observation
			.observe(() -> template.operation("pay").key("k-secret").execute(String.class, () -> answer)));
	}

	private List<SpanData> spans(String name) {
		return this.exporter.getFinishedSpanItems().stream().filter((span) -> span.getName().equals(name)).toList();
	}

	private IdempotencyRecord record() {
		return this.store.admin()
			.orElseThrow()
			.find(RecordKey.of(new Namespace("").key("pay", Caller.GLOBAL, List.of("k-secret"))))
			.orElseThrow();
	}

	@Test
	void replayIsLinkedToTheSpanOfItsRun() {
		start(Sampler.alwaysOn());
		assertThat(pay("first", "paid")).isEqualTo("paid");
		assertThat(pay("second", "again")).isEqualTo("paid");
		SpanData run = spans("idempotency pay").get(0);
		SpanData replay = spans("idempotency pay").get(1);
		assertThat(replay.getTraceId()).isNotEqualTo(run.getTraceId());
		assertThat(spans(LINK)).singleElement().satisfies((link) -> {
			assertThat(link.getTraceId()).isEqualTo(replay.getTraceId());
			assertThat(link.getParentSpanId()).isEqualTo(replay.getSpanId());
			assertThat(link.getLinks()).singleElement()
				.extracting(LinkData::getSpanContext)
				.returns(run.getTraceId(), SpanContext::getTraceId)
				.returns(run.getSpanId(), SpanContext::getSpanId);
		});
		assertThat(replay.getAttributes().get(AttributeKey.stringKey("idempotency.run.trace-id")))
			.isEqualTo(run.getTraceId());
		assertThat(replay.getAttributes().get(AttributeKey.stringKey("idempotency.run.node"))).isEqualTo("node-1");
		assertThat(run.getAttributes().asMap().keySet()).extracting(AttributeKey::getKey)
			.doesNotContain("idempotency.run.trace-id");
	}

	@Test
	void recordShowsNodeAndTraceOfItsRun() {
		start(Sampler.alwaysOn());
		pay("first", "paid");
		pay("second", "again");
		assertThat(record().node()).isEqualTo("node-1");
		assertThat(record().traceId()).isEqualTo(spans("first").get(0).getTraceId());
	}

	@Test
	void traceThatIsNotSampledIsKeptForTheLogsAndNotLinked() {
		start(Sampler.alwaysOff());
		pay("first", "paid");
		assertThat(pay("second", "again")).isEqualTo("paid");
		assertThat(record().traceId()).isNotNull();
		assertThat(this.exporter.getFinishedSpanItems()).isEmpty();
	}

	@Test
	void callWithoutATraceHasItsNodeAlone() {
		assertThat(new TraceLinker(start(Sampler.alwaysOn()), NODE).current()).isEqualTo(NODE);
		assertThat(new TraceLinker(Tracer.NOOP, NODE).current()).isEqualTo(NODE);
	}

	@Test
	void tracerThatFailsChangesNoAnswer() {
		start(Sampler.alwaysOn());
		this.engine.close();
		start(new BrokenTracer(new MicrometerObserver(NODE, this.observations, null, null, null, null)));
		assertThat(pay("first", "paid")).isEqualTo("paid");
		assertThat(pay("second", "again")).isEqualTo("paid");
		assertThat(record().node()).isNull();
		assertThat(spans("idempotency pay")).hasSize(2);
	}

	/** Sees calls, and fails where it is asked for their traces. */
	private record BrokenTracer(EngineObserver calls) implements EngineObserver {

		@Override
		public ClaimOrigin origin() {
			throw new LinkageError("broken");
		}

		@Override
		public SeenCall started(GuardedCall call) {
			SeenCall seen = Objects.requireNonNull(this.calls.started(call));
			return new SeenCall() {

				@Override
				public Scope open() {
					return seen.open();
				}

				@Override
				public void replays(ClaimOrigin first) {
					throw new IllegalStateException("broken");
				}

				@Override
				public void ended(IdempotencyOutcome outcome, @Nullable Throwable failure) {
					seen.ended(outcome, failure);
				}

			};
		}

	}

}
