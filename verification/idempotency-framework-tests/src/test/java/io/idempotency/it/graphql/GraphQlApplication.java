package io.idempotency.it.graphql;

import java.net.URI;
import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import graphql.GraphQLError;
import graphql.GraphqlErrorBuilder;
import graphql.schema.DataFetchingEnvironment;
import io.idempotency.FailureMode;
import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;

import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import org.dataloader.DataLoader;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.graphql.data.method.annotation.Argument;
import org.springframework.graphql.data.method.annotation.BatchMapping;
import org.springframework.graphql.data.method.annotation.MutationMapping;
import org.springframework.graphql.data.method.annotation.QueryMapping;
import org.springframework.graphql.data.method.annotation.SchemaMapping;
import org.springframework.graphql.data.method.annotation.support.AnnotatedControllerConfigurer;
import org.springframework.graphql.execution.BatchLoaderRegistry;
import org.springframework.graphql.server.WebGraphQlHandler;
import org.springframework.graphql.server.WebGraphQlRequest;
import org.springframework.http.HttpHeaders;
import org.springframework.graphql.data.method.annotation.GraphQlExceptionHandler;
import org.springframework.graphql.execution.ErrorType;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

/** A shop whose mutations are guarded. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import({ GraphQlApplication.Cart.class, GraphQlApplication.Notes.class, GraphQlApplication.Batch.class,
		GraphQlApplication.Errors.class })
class GraphQlApplication {

	/** As with virtual threads, which call the methods of controllers elsewhere. */
	@Bean
	Executor applicationTaskExecutor() {
		return new SimpleAsyncTaskExecutor("elsewhere-");
	}

	/** Logs in whom a header names. */
	@Bean
	Filter users() {
		return (request, response, chain) -> {
			String user = ((HttpServletRequest) request).getHeader("X-User");
			chain.doFilter((user != null) ? new HttpServletRequestWrapper((HttpServletRequest) request) {

				@Override
				public Principal getUserPrincipal() {
					return () -> user;
				}

			} : request, response);
		};
	}

	@Bean
	static BeanPostProcessor blockingMethods() {
		return new BeanPostProcessor() {

			@Override
			public Object postProcessBeforeInitialization(Object bean, String name) {
				if (bean instanceof AnnotatedControllerConfigurer configurer) {
					configurer
						.setBlockingMethodPredicate((handler) -> handler.getMethod().getName().equals("elsewhere"));
				}
				return bean;
			}

		};
	}

	record OrderInput(String key, String sku, int quantity) {
	}

	record PayInput(int cents, String note) {
	}

	record CartMutation(String id) {
	}

	@Controller
	static class Cart {

		static final AtomicInteger additions = new AtomicInteger();

		static volatile CountDownLatch entered = new CountDownLatch(1);

		static volatile CountDownLatch gate = new CountDownLatch(1);

		@QueryMapping
		public int additions() {
			return additions.get();
		}

		@MutationMapping
		@Idempotent(header = "Idempotency-Key")
		public String addItem(@Argument String sku, @Argument int quantity) {
			return quantity + " " + sku + ", addition " + additions.incrementAndGet();
		}

		@MutationMapping
		@Idempotent(key = "#input.key", fingerprint = "{#input.sku, #input.quantity}")
		public String placeOrder(@Argument OrderInput input) {
			return input.sku() + ", addition " + additions.incrementAndGet();
		}

		@MutationMapping
		@Idempotent(header = "Idempotency-Key")
		public String remove(DataFetchingEnvironment environment) {
			return environment.getArgument("sku") + ", addition " + additions.incrementAndGet();
		}

		@MutationMapping
		@Idempotent(key = "#sku", mode = IdempotencyMode.REJECT)
		public String once(@Argument String sku) {
			return sku + ", addition " + additions.incrementAndGet();
		}

		@MutationMapping
		@Idempotent(header = "Idempotency-Key")
		public String slow() throws InterruptedException {
			entered.countDown();
			gate.await();
			return "addition " + additions.incrementAndGet();
		}

		@MutationMapping
		@Idempotent(header = "Idempotency-Key")
		public String fail() {
			throw new IllegalStateException("The work failed in addition " + additions.incrementAndGet());
		}

		@MutationMapping
		@Idempotent(onFailure = FailureMode.REMEMBER)
		public String failForGood(@Argument String sku) {
			throw new SoldOutException(sku, additions.incrementAndGet());
		}

		@MutationMapping
		@Idempotent(onFailure = FailureMode.REMEMBER)
		public CompletableFuture<String> failLaterForGood(@Argument String sku) {
			return CompletableFuture.supplyAsync(() -> {
				throw new SoldOutException(sku, additions.incrementAndGet());
			});
		}

		@MutationMapping
		@Idempotent(body = "/input/clientMutationId")
		public String pay(@Argument PayInput input) {
			return input.cents() + " cents, addition " + additions.incrementAndGet();
		}

		@MutationMapping
		@Idempotent(token = true)
		public String checkOut(@Argument String sku) {
			return sku + ", addition " + additions.incrementAndGet();
		}

		@MutationMapping
		@Idempotent
		public String flaky() {
			int addition = additions.incrementAndGet();
			if (addition == 2) {
				throw new IllegalStateException("The work failed in addition " + addition);
			}
			return "addition " + addition;
		}

		@MutationMapping
		@Idempotent
		public @Nullable String nothing() {
			additions.incrementAndGet();
			return null;
		}

		@MutationMapping
		@Idempotent
		public String elsewhere(@Argument String sku) {
			return sku + " on " + Thread.currentThread().getName().replaceAll("\\d", "") + ", addition "
					+ additions.incrementAndGet();
		}

		@MutationMapping
		@Idempotent
		public CompletableFuture<String> later(@Argument String sku) {
			return CompletableFuture.supplyAsync(() -> sku + " later, addition " + additions.incrementAndGet());
		}

		@MutationMapping
		@Idempotent
		public CompletableFuture<String> load(@Argument String sku, DataLoader<String, String> stock) {
			return stock.load(sku).thenApply((loaded) -> loaded + ", addition " + additions.incrementAndGet());
		}

		@MutationMapping
		public CartMutation cart(@Argument String id) {
			return new CartMutation(id);
		}

		@SchemaMapping
		@Idempotent
		public String empty(CartMutation cart) {
			return "cart " + cart.id() + ", addition " + additions.incrementAndGet();
		}

	}

	static class SoldOutException extends RuntimeException {

		private final String sku;

		SoldOutException(String sku, int addition) {
			super("sold out in addition " + addition);
			this.sku = sku;
		}

	}

	/** What the clients are told of failures. */
	@ControllerAdvice
	static class Errors {

		@GraphQlExceptionHandler
		GraphQLError soldOut(SoldOutException ex, DataFetchingEnvironment environment) {
			return GraphqlErrorBuilder.newError(environment)
				.errorType(ErrorType.NOT_FOUND)
				.message("There is no %s: %s", ex.sku, ex.getMessage())
				.extensions(Map.of("sku", ex.sku))
				.build();
		}

	}

	/** Its mutations are guarded, and nothing else. */
	@Controller
	@Idempotent
	static class Notes {

		private final AtomicInteger calls = new AtomicInteger();

		@MutationMapping
		public String note() {
			return "call " + this.calls.incrementAndGet();
		}

		@QueryMapping
		public String notes() {
			return "call " + this.calls.incrementAndGet();
		}

		@BatchMapping(typeName = "CartMutation", field = "notes")
		public List<String> notesOf(List<CartMutation> carts) {
			return carts.stream().map((cart) -> "of cart " + cart.id()).toList();
		}

	}

	/** Several documents in one request, each with a key of its own. */
	@RestController
	static class Batch {

		private final WebGraphQlHandler documents;

		Batch(WebGraphQlHandler documents, BatchLoaderRegistry loaders) {
			this.documents = documents;
			loaders.<String, String>forName("stock")
				.registerBatchLoader((skus, environment) -> Flux.fromIterable(skus).map((sku) -> "loaded " + sku));
		}

		@PostMapping("/graphql/batch")
		Mono<List<Map<String, Object>>> execute(@RequestBody List<Map<String, Object>> batch,
				@RequestHeader("Idempotency-Key") String key) {
			return Flux.fromStream(IntStream.range(0, batch.size()).boxed())
				.flatMapSequential(
						(position) -> this.documents.handleRequest(request(batch.get(position), key + "/" + position)))
				.map((response) -> response.getExecutionResult().toSpecification())
				.collectList();
		}

		private static WebGraphQlRequest request(Map<String, Object> document, String key) {
			HttpHeaders headers = new HttpHeaders();
			headers.set("Idempotency-Key", key);
			return new WebGraphQlRequest(URI.create("/graphql"), headers, null, null, Map.of(), document,
					UUID.randomUUID().toString(), null);
		}

	}

}
