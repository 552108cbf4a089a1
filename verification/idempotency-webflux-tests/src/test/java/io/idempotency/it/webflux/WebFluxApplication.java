package io.idempotency.it.webflux;

import java.io.IOException;
import java.util.List;

import io.idempotency.it.scenarios.Runs;
import org.aopalliance.intercept.MethodInterceptor;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;

import org.springframework.aop.Advisor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.security.config.annotation.method.configuration.EnableReactiveMethodSecurity;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.core.userdetails.MapReactiveUserDetailsService;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.http.server.reactive.ServerHttpResponseDecorator;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.reactive.AbstractReactiveTransactionManager;
import org.springframework.transaction.reactive.GenericReactiveTransaction;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import org.springframework.transaction.reactive.TransactionalOperator;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.reactive.config.BlockingExecutionConfigurer;
import org.springframework.web.reactive.config.WebFluxConfigurer;
import org.springframework.web.server.WebFilter;

import static org.springframework.security.config.Customizer.withDefaults;

/** An application on Netty, with callers that have passwords. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableReactiveMethodSecurity
@Import({ OrdersController.class, AnswersController.class, ViewsController.class, ViewsController.Views.class,
		DeclaredElsewhere.OfInterface.class, DeclaredElsewhere.OfExchange.class, DeclaredElsewhere.OfGenericClass.class,
		DeclaredElsewhere.OfClass.class, WebFluxApplication.Advice.class, Routes.class })
class WebFluxApplication {

	@Bean
	Runs runs() {
		return new Runs();
	}

	@Bean
	SecurityWebFilterChain security(ServerHttpSecurity http) {
		return http.csrf(ServerHttpSecurity.CsrfSpec::disable)
			.httpBasic(withDefaults())
			.anonymous(withDefaults())
			.authorizeExchange(
					(exchanges) -> exchanges.pathMatchers("/closed/**").authenticated().anyExchange().permitAll())
			.build();
	}

	@Bean
	MapReactiveUserDetailsService users() {
		return new MapReactiveUserDetailsService(
				List.of(User.withUsername("ada").password("{noop}ada").roles("BUYER").build(),
						User.withUsername("anonymousUser").password("{noop}a").roles().build(),
						User.withUsername("bob").password("{noop}bob").roles().build()));
	}

	/** Has a transaction around the requests that ask for one. */
	@Bean
	WebFilter transactions() {
		TransactionalOperator operator = TransactionalOperator.create(new NoResource());
		return (exchange, chain) -> exchange.getRequest().getHeaders().getFirst("X-Transaction") != null
				? operator.transactional(chain.filter(exchange)) : chain.filter(exchange);
	}

	/**
	 * Sees which requests were cancelled by their connection, when the guard has seen it.
	 */
	@Bean
	WebFilter hangUps() {
		return (exchange, chain) -> chain.filter(exchange).doFinally((end) -> {
			if (end == SignalType.CANCEL) {
				OrdersController.run("gone " + exchange.getRequest().getHeaders().getFirst("Idempotency-Key"));
			}
		});
	}

	/** As on a server that tells by an exception that its client is gone. */
	@Bean
	WebFilter brokenPipes() {
		return (exchange, chain) -> (exchange.getRequest().getHeaders().getFirst("X-Broken-Pipe") == null)
				? chain.filter(exchange)
				: chain.filter(exchange.mutate().response(new BrokenPipe(exchange.getResponse())).build());
	}

	@Bean
	WebFilter forgetfulServers() {
		return (exchange, chain) -> (exchange.getRequest().getHeaders().getFirst("X-Forgetful-Server") == null)
				? chain.filter(exchange)
				: chain.filter(exchange.mutate().response(new Forgetful(exchange.getResponse())).build());
	}

	/** As Spring Boot does where virtual threads are enabled. */
	@Bean
	WebFluxConfigurer threads() {
		return new WebFluxConfigurer() {

			@Override
			public void configureBlockingExecution(BlockingExecutionConfigurer configurer) {
				configurer.setExecutor(new SimpleAsyncTaskExecutor("worker-"))
					.setControllerMethodPredicate((method) -> method.getMethod().getName().startsWith("blocking"));
			}

		};
	}

	/** Advice outside of the guard that calls a handler again whose work has failed. */
	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static Advisor retry() {
		NameMatchMethodPointcut retried = new NameMatchMethodPointcut();
		retried.setMappedName("retried");
		DefaultPointcutAdvisor retry = new DefaultPointcutAdvisor(retried,
				(MethodInterceptor) (call) -> ((Mono<?>) call.proceed()).retry(1));
		retry.setOrder(0);
		return retry;
	}

	/** A handler for all exceptions, as many applications have one. */
	@RestControllerAdvice
	static class Advice {

		@ExceptionHandler
		@ResponseStatus(HttpStatus.CONFLICT)
		String sold(SoldException sold) {
			return "sold: " + sold.getMessage();
		}

	}

	static class BrokenPipe extends ServerHttpResponseDecorator {

		BrokenPipe(ServerHttpResponse delegate) {
			super(delegate);
		}

		@Override
		public Mono<Void> writeWith(Publisher<? extends DataBuffer> body) {
			return Flux.from(body)
				.doOnNext(DataBufferUtils::release)
				.concatMap((buffer) -> Mono.<Void>error(new IOException("Broken pipe")))
				.then();
		}

	}

	/** Neither ends nor fails once its client is gone. */
	static class Forgetful extends ServerHttpResponseDecorator {

		Forgetful(ServerHttpResponse delegate) {
			super(delegate);
		}

		@Override
		public Mono<Void> writeAndFlushWith(Publisher<? extends Publisher<? extends DataBuffer>> body) {
			return super.writeAndFlushWith(body).onErrorComplete().then(Mono.never());
		}

	}

	static class SoldException extends RuntimeException {

		SoldException(String message) {
			super(message);
		}

	}

	/** Transactions of nothing. */
	static final class NoResource extends AbstractReactiveTransactionManager {

		private static final long serialVersionUID = 1L;

		@Override
		protected Object doGetTransaction(TransactionSynchronizationManager manager) {
			return "transaction";
		}

		@Override
		protected Mono<Void> doBegin(TransactionSynchronizationManager manager, Object transaction,
				TransactionDefinition definition) {
			return Mono.empty();
		}

		@Override
		protected Mono<Void> doCommit(TransactionSynchronizationManager manager, GenericReactiveTransaction status) {
			return Mono.empty();
		}

		@Override
		protected Mono<Void> doRollback(TransactionSynchronizationManager manager, GenericReactiveTransaction status) {
			return Mono.empty();
		}

	}

}
