package io.idempotency.autoconfigure;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import io.idempotency.IdempotencyAdmin;
import io.idempotency.IdempotencyCaller;
import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.Idempotent;
import io.idempotency.reactor.ReactiveIdempotencyContext;
import io.idempotency.reactor.ReactiveIdempotencyTemplate;
import io.micrometer.context.ContextSnapshotFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/** The context of a guarded call where Micrometer's context propagation carries it. */
class PropagatedContextTests {

	private final ApplicationContextRunner application = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(JacksonAutoConfiguration.class, IdempotencyAutoConfiguration.class))
		.withPropertyValues("idempotency.store=memory")
		.withBean(Orders.class);

	@AfterEach
	void leaveIt() {
		Hooks.disableAutomaticContextPropagation();
		assertThat(IdempotencyContext.current()).isEmpty();
	}

	private static String here() {
		return IdempotencyContext.current().map(IdempotencyContext::key).orElse("none");
	}

	/** Tells the context that another thread of Reactor has. */
	private static Mono<String> elsewhere() {
		return Mono.just("").publishOn(Schedulers.parallel()).map((nothing) -> here());
	}

	@Test
	void threadsOfTheWorkHaveItWhereHooksCarryIt() {
		Hooks.enableAutomaticContextPropagation();
		this.application.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			assertThat(orders.place("7").block()).isEqualTo("7 7 none");
			assertThat(elsewhere().block()).isEqualTo("none");
			ReactiveIdempotencyTemplate template = context.getBean(ReactiveIdempotencyTemplate.class);
			assertThat(template.execute("key", (call) -> call.key("8"), String.class, PropagatedContextTests::elsewhere)
				.block()).isEqualTo("8");
		});
	}

	@Test
	void withoutHooksItIsInTheReactorContextAlone() {
		this.application.run((context) -> {
			assertThat(context.getBean(Orders.class).place("7").block()).isEqualTo("none 7 none");
		});
	}

	@Test
	void wishesOfTheWorkCountOnItsThreads() {
		Hooks.enableAutomaticContextPropagation();
		this.application.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			assertThat(orders.wish("7", true).block()).isNotEqualTo(orders.wish("7", true).block());
			assertThat(orders.wish("8", false).block()).isEqualTo(orders.wish("8", false).block());
			assertThat(context.getBean(IdempotencyAdmin.class)
				.find("wish", IdempotencyCaller.none(), "8")
				.orElseThrow()
				.retentionRest()).isGreaterThan(Duration.ofDays(40));
		});
	}

	@Test
	void threadOfABlockingCallGivesItToTheReactorContext() {
		Hooks.enableAutomaticContextPropagation();
		this.application.run((context) -> {
			String seen = context.getBean(IdempotencyTemplate.class)
				.operation("blocking")
				.key("7")
				.execute(String.class,
						() -> ReactiveIdempotencyContext.get().map(IdempotencyContext::key).contextCapture().block()
								+ " " + elsewhere().block());
			assertThat(seen).isEqualTo("7 7");
		});
	}

	@Test
	void snapshotCarriesItToAnotherThread() throws Exception {
		ExecutorService threads = Executors.newSingleThreadExecutor();
		try {
			this.application.run((context) -> {
				CompletableFuture<String> seen = context.getBean(IdempotencyTemplate.class)
					.operation("blocking")
					.key("7")
					.executeAsync(String.class, () -> CompletableFuture.supplyAsync(PropagatedContextTests::here,
							ContextSnapshotFactory.builder().build().captureAll().wrapExecutor(threads)));
				assertThat(seen.join()).isEqualTo("7");
				assertThat(CompletableFuture.supplyAsync(PropagatedContextTests::here, threads).join())
					.isEqualTo("none");
			});
		}
		finally {
			threads.shutdown();
		}
	}

	/** Public, because its proxy extends it. */
	public static class Orders {

		/** The thread, the Reactor context, and unguarded work inside. */
		@Idempotent(key = "#a0")
		public Mono<String> place(String id) {
			return Mono
				.zip(elsewhere(), ReactiveIdempotencyContext.get().map(IdempotencyContext::key),
						Mono.defer(PropagatedContextTests::elsewhere).contextWrite(ReactiveIdempotencyContext::without))
				.map((seen) -> seen.getT1() + " " + seen.getT2() + " " + seen.getT3());
		}

		@Idempotent(key = "#a0", operation = "wish")
		public Mono<String> wish(String id, boolean release) {
			return Mono.just(id).publishOn(Schedulers.parallel()).map((given) -> {
				IdempotencyContext call = IdempotencyContext.current().orElseThrow();
				if (release) {
					call.releaseKey();
				}
				call.retention(Duration.ofDays(50));
				return call.operation() + call.fencingToken() + UUID.randomUUID();
			});
		}

	}

}
