package io.idempotency.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import io.idempotency.interceptor.RequestValues.CurrentRequest;
import io.idempotency.ConflictMode;
import io.idempotency.FailureMode;
import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyKeyMissingException;
import io.idempotency.Idempotent;
import io.idempotency.RememberedFailureException;
import io.idempotency.TransactionMode;
import io.idempotency.RetryAdvice;
import io.idempotency.interceptor.GuardedMethod.GuardMisconfiguredException;
import io.idempotency.interceptor.RequestValues;
import io.idempotency.key.Caller;
import io.idempotency.reactor.ReactiveIdempotencyContext;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStore;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.core.authority.AuthorityUtils;
import org.springframework.security.core.context.ReactiveSecurityContextHolder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** Guarded methods whose work begins when their result is subscribed to. */
@ExtendWith(OutputCaptureExtension.class)
class SubscribedMethodsTests {

	private static final String BLOCKS = "ThreadsStore blocks, so non-blocking calls";

	private final ApplicationContextRunner application = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class))
		.withBean("idempotencyStore", IdempotencyStore.class, ThreadsStore::new);

	private final ApplicationContextRunner orders = this.application.withBean(Orders.class);

	private void run(Consumer<Application> test) {
		this.orders.run((context) -> test
			.accept(new Application(context.getBean(Orders.class), context.getBean(ThreadsStore.class))));
	}

	@Test
	void skipsDuplicateWithoutAnException() {
		run((application) -> {
			application.orders.tick("7").block();
			application.orders.tick("7").block();
			assertThat(application.orders.runs()).isEqualTo(1);
		});
	}

	@Test
	void callIsClaimedWhenItIsSubscribedToAndOnceForEachSubscription() {
		run((application) -> {
			Mono<Receipt> call = application.orders.place("7");
			assertThat(application.store.claims).isEmpty();
			assertThat(application.orders.runs()).isEqualTo(0);
			assertThat(call.block()).isEqualTo(new Receipt("7", 1));
			assertThat(call.block()).isEqualTo(new Receipt("7", 1));
			assertThat(application.orders.place("7").block()).isEqualTo(new Receipt("7", 1));
			assertThat(application.orders.place("8").block()).isEqualTo(new Receipt("8", 2));
			// A result that this node has seen needs no claim.
			assertThat(application.store.claims).hasSize(2);
		});
	}

	@Test
	void subscriptionThatRunsAgainCallsTheMethodAnew() {
		run((application) -> {
			Mono<Receipt> call = application.orders.failOnce("7");
			assertThatExceptionOfType(IllegalStateException.class).isThrownBy(call::block).withMessage("first");
			assertThat(call.block()).isEqualTo(new Receipt("7", 2));
			assertThat(call.block()).isEqualTo(new Receipt("7", 2));
		});
	}

	@Test
	void nothingIsAResult() {
		run((application) -> {
			assertThat(application.orders.find("7").block()).isNull();
			assertThat(application.orders.find("7").block()).isNull();
			assertThat(application.orders.cancel("7").block()).isNull();
			assertThat(application.orders.cancel("7").block()).isNull();
			assertThat(application.orders.runs()).isEqualTo(2);
		});
	}

	/** Each value of a call that is not guarded comes at once. */
	@Test
	void nothingIsCollectedWhereTheConditionDoesNotHold() {
		run((application) -> {
			assertThat(application.orders.endless("7", false).blockFirst()).isEqualTo(new Receipt("7", 1));
			assertThat(application.store.claims).isEmpty();
		});
	}

	@Test
	void severalValuesAreCollected() {
		run((application) -> {
			List<Receipt> lines = List.of(new Receipt("7", 1), new Receipt("7", 2));
			assertThat(application.orders.lines("7").collectList().block()).isEqualTo(lines);
			assertThat(application.orders.lines("7").collectList().block()).isEqualTo(lines);
			assertThat(Flux.from(application.orders.published("7")).collectList().block()).containsExactly(3L);
			assertThat(Flux.from(application.orders.published("7")).collectList().block()).containsExactly(3L);
			assertThat(application.orders.runs()).isEqualTo(3);
		});
	}

	@Test
	void failureIsRemembered() {
		run((application) -> {
			assertThatExceptionOfType(IllegalStateException.class)
				.isThrownBy(application.orders.remembered("7")::block);
			assertThatExceptionOfType(RememberedFailureException.class)
				.isThrownBy(application.orders.remembered("7")::block);
			assertThat(application.orders.runs()).isEqualTo(1);
		});
	}

	@Test
	void aRejectionThatIsRememberedAsksNobodyToComeBackWithTheSameKey() {
		run((application) -> {
			assertThatExceptionOfType(IdempotencyInProgressException.class)
				.isThrownBy(application.orders.rememberedRejection("7")::block)
				.satisfies((ex) -> assertThat(ex.retry()).isEqualTo(RetryAdvice.NEVER));
			assertThatExceptionOfType(RememberedFailureException.class)
				.isThrownBy(application.orders.rememberedRejection("7")::block)
				.satisfies((ex) -> assertThat(ex.status()).isEqualTo(409));
		});
	}

	@Test
	void whatMeansDoneIsLookedUp() {
		run((application) -> {
			assertThat(application.orders.unique("7").block()).isEqualTo(new Receipt("found", 0));
			assertThat(application.orders.unique("7").block()).isEqualTo(new Receipt("found", 0));
			assertThat(application.orders.runs()).isEqualTo(1);
		});
	}

	@Test
	void duplicateIsRejectedAndTheWorkGoesOnWithoutItsCaller() {
		run((application) -> {
			Orders orders = application.orders;
			Disposable caller = orders.slow("7").subscribe();
			orders.awaitBegun();
			assertThatExceptionOfType(IdempotencyInProgressException.class).isThrownBy(orders.slow("7")::block);
			caller.dispose();
			orders.finish("done");
			Awaitility.await().until(() -> application.store.completions.size() == 1);
			assertThat(orders.slow("7").block()).isEqualTo("done");
			assertThat(orders.runs()).isEqualTo(1);
		});
	}

	@Test
	void rejectionIsASignalAndNotThrown() {
		run((application) -> {
			Mono<Receipt> call = application.orders.place(null);
			assertThatExceptionOfType(IdempotencyKeyMissingException.class).isThrownBy(call::block);
		});
	}

	@Test
	void contextTravelsWithTheSubscription() {
		run((application) -> assertThat(application.orders.operation("7").block()).isEqualTo("orders.operation")
			.isEqualTo(application.orders.operation("7").block()));
	}

	@Test
	void loginOfTheSubscriptionIsTheCaller() {
		run((application) -> {
			assertThat(as("alice", application.orders.own("7")).block()).isEqualTo(new Receipt("7", 1));
			assertThat(as("bob", application.orders.own("7")).block()).isEqualTo(new Receipt("7", 2));
			assertThat(as("alice", application.orders.own("7")).block()).isEqualTo(new Receipt("7", 1));
		});
	}

	@Test
	void anonymousLoginIsNoCaller() {
		AnonymousAuthenticationToken anonymous = new AnonymousAuthenticationToken("key", "anonymousUser",
				AuthorityUtils.createAuthorityList("ROLE_ANONYMOUS"));
		run((application) -> {
			assertThat(as("anonymousUser", application.orders.own("7")).block()).isEqualTo(new Receipt("7", 1));
			// Its principal is null, as in a request without a login.
			assertThatExceptionOfType(GuardMisconfiguredException.class)
				.isThrownBy(application.orders.own("7")
					.contextWrite(ReactiveSecurityContextHolder.withAuthentication(anonymous))::block)
				.withMessageContaining("#root.principal.name")
				.withMessageContaining("on null");
			assertThat(as("alice", application.orders.own("7")).block()).isEqualTo(new Receipt("7", 2));
		});
	}

	/**
	 * Spring MVC subscribes elsewhere, with the login in the context and not the request.
	 */
	@Test
	void requestIsThatOfTheCallingThreadAndItsLoginThatOfTheSubscription() {
		Thread calling = Thread.currentThread();
		this.orders.withBean(CurrentRequest.class, () -> new RequestOf(calling)).run((context) -> {
			Orders bean = context.getBean(Orders.class);
			for (int i = 0; i < 2; i++) {
				assertThat(as("alice", bean.ofClient().subscribeOn(Schedulers.boundedElastic())).block())
					.isEqualTo(new Receipt("alice", 1));
			}
			assertThat(context.getBean(ThreadsStore.class).claims)
				.allSatisfy((claim) -> assertThat(claim.key().caller()).isEqualTo(RequestOf.CLIENT));
		});
	}

	private static <T> Mono<T> as(String user, Mono<T> call) {
		return call.contextWrite(
				ReactiveSecurityContextHolder.withAuthentication(new TestingAuthenticationToken(user, "secret")));
	}

	@Test
	void futureIsGuardedAwayFromAThreadThatMustNotBlock() {
		run((application) -> {
			for (Receipt receipt : List.of(new Receipt("7", 1), new Receipt("8", 2), new Receipt("7", 1))) {
				Mono<Receipt> call = Mono.fromFuture(() -> application.orders.later(receipt.order()));
				assertThat(call.subscribeOn(Schedulers.parallel()).block()).isEqualTo(receipt);
			}
			assertThat(application.store.threads).hasSize(2)
				.allSatisfy((thread) -> assertThat(thread).startsWith("idempotency-store"));
			assertThat(application.orders.later("7").join()).isEqualTo(new Receipt("7", 1));
			assertThat(application.store.threads).last().isEqualTo(Thread.currentThread().getName());
		});
	}

	@Test
	void startSaysWhatNeedsThreads(CapturedOutput output) {
		run((application) -> assertThat(output).containsOnlyOnce(BLOCKS));
	}

	@Test
	void transactionOfASubscriptionIsNotJoined() {
		this.application.withBean(Joined.class)
			.run((context) -> assertThat(context).getFailure()
				.hasMessageContaining("its store does not support reactive transactions"));
	}

	@Test
	void publisherOfAnUnknownTypeIsRejected() {
		this.application.withBean(Unknown.class)
			.run((context) -> assertThat(context).getFailure().hasMessageContaining("its end cannot be observed"));
	}

	private record Application(Orders orders, ThreadsStore store) {
	}

	record Receipt(String order, int number) {
	}

	/** A request with a key, on one thread. */
	private record RequestOf(Thread thread) implements CurrentRequest {

		private static final Caller CLIENT = Caller.principal("the client");

		private boolean isHere() {
			return Thread.currentThread() == this.thread;
		}

		@Override
		public RequestValues values() {
			RequestValues values = mock();
			given(values.headers("Idempotency-Key")).willReturn(List.of("k1"));
			return isHere() ? values : RequestValues.NONE;
		}

		@Override
		public Caller caller() {
			return owner("any");
		}

		@Override
		public Caller owner(String operation) {
			return isHere() ? CLIENT : Caller.GLOBAL;
		}

	}

	/** Remembers which threads have claimed. */
	static final class ThreadsStore extends RecordingStore {

		private final List<String> threads = new CopyOnWriteArrayList<>();

		@Override
		public ClaimResult claim(ClaimRequest request) {
			this.threads.add(Thread.currentThread().getName());
			return super.claim(request);
		}

	}

	static class Orders {

		private final AtomicInteger runs = new AtomicInteger();

		private final CountDownLatch begun = new CountDownLatch(1);

		private final Sinks.One<String> gate = Sinks.one();

		int runs() {
			return this.runs.get();
		}

		void awaitBegun() {
			try {
				this.begun.await();
			}
			catch (InterruptedException ex) {
				throw new AssertionError(ex);
			}
		}

		void finish(String result) {
			this.gate.tryEmitValue(result);
		}

		@Idempotent("#order")
		Mono<Receipt> place(@Nullable String order) {
			return receipt(order);
		}

		private Mono<Receipt> receipt(@Nullable String order) {
			return Mono.fromSupplier(() -> new Receipt(String.valueOf(order), this.runs.incrementAndGet()));
		}

		@Idempotent(header = "Idempotency-Key")
		Mono<Receipt> ofClient() {
			return receipt("alice");
		}

		@Idempotent("#order")
		Mono<Receipt> failOnce(String order) {
			int run = this.runs.incrementAndGet();
			return (run == 1) ? Mono.error(new IllegalStateException("first")) : Mono.just(new Receipt(order, run));
		}

		@Idempotent("#order")
		Mono<Receipt> find(String order) {
			return receipt(order).then(Mono.empty());
		}

		@Idempotent("#order")
		Mono<Void> cancel(String order) {
			return receipt(order).then();
		}

		@Idempotent(key = "#order", condition = "#guarded")
		Flux<Receipt> endless(String order, boolean guarded) {
			return Flux.concat(receipt(order), Flux.never());
		}

		@Idempotent("#order")
		Flux<Receipt> lines(String order) {
			return receipt(order).repeat(1);
		}

		@Idempotent("#order")
		Publisher<Long> published(String order) {
			return receipt(order).map((receipt) -> (long) receipt.number());
		}

		@Idempotent(key = "#order", onFailure = FailureMode.REMEMBER)
		Mono<Receipt> remembered(String order) {
			return receipt(order).then(Mono.error(new IllegalStateException(order)));
		}

		@Idempotent(key = "#order", onFailure = FailureMode.REMEMBER)
		Mono<Receipt> rememberedRejection(String order) {
			return receipt(order)
				.then(Mono.error(() -> new IdempotencyInProgressException("payments.pay", Duration.ofSeconds(2))));
		}

		@Idempotent(key = "#order", duplicateOn = IllegalStateException.class, recover = "known")
		Mono<Receipt> unique(String order) {
			return receipt(order).then(Mono.error(new IllegalStateException("there")));
		}

		Mono<Receipt> known(String order) {
			return Mono.just(new Receipt("found", 0));
		}

		@Idempotent(key = "#order", mode = IdempotencyMode.REJECT, conflict = ConflictMode.SKIP)
		Mono<Void> tick(String order) {
			return receipt(order).then();
		}

		@Idempotent("#order")
		Mono<String> slow(String order) {
			return receipt(order).then(this.gate.asMono()).doOnSubscribe((subscription) -> this.begun.countDown());
		}

		@Idempotent(key = "#order", operation = "orders.operation")
		Mono<String> operation(String order) {
			return ReactiveIdempotencyContext.get().map(IdempotencyContext::operation);
		}

		@Idempotent(key = "#order", scope = "#root.principal.name")
		Mono<Receipt> own(String order) {
			return receipt(order);
		}

		@Idempotent("#order")
		CompletableFuture<Receipt> later(String order) {
			return receipt(order).toFuture();
		}

	}

	static class Joined {

		@Idempotent(key = "#order", transaction = TransactionMode.JOIN)
		Mono<Receipt> place(String order) {
			return Mono.empty();
		}

	}

	static class Unknown {

		@Idempotent("#order")
		OwnPublisher place(String order) {
			return new OwnPublisher();
		}

	}

	static final class OwnPublisher implements Publisher<String> {

		@Override
		public void subscribe(Subscriber<? super String> subscriber) {
			Mono.just("7").subscribe(subscriber);
		}

	}

}
