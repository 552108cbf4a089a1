package io.idempotency.it.schemes;

import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import io.idempotency.it.client.Client;
import io.idempotency.store.IdempotencyStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;

/**
 * Every scheme on a real server: a subclass says which server, and which store, by
 * properties or by a configuration that declares it. The application issues tokens, and
 * its handlers are the same on every stack.
 */
public abstract class Schemes
		implements IssuedTokenScheme, RejectScheme, LockScheme, BusinessKeyScheme, DuplicateOnScheme, AbandonedScheme {

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private Stage stage;

	@BeforeEach
	void setTheStage(@Autowired Environment environment, @Autowired Effects effects, @Autowired IdempotencyStore store,
			@Autowired SchemeMethods methods, @Autowired RecoveryMethods recoveries) {
		String id = UUID.randomUUID().toString();
		Client client = new Client(Integer.parseInt(environment.getRequiredProperty("local.server.port")));
		this.stage = new Stage(id, effects.of(id), effects, client, (CountingStore) store, methods, recoveries,
				this.threads);
	}

	@AfterEach
	void stop() {
		this.threads.shutdownNow();
	}

	@Override
	public Stage stage() {
		return this.stage;
	}

	/** Guarded handlers and methods of a servlet application. */
	@Configuration(proxyBeanMethods = false)
	@Import({ TokenController.class, SchemeController.class, RecoveryController.class, Methods.class })
	public static class Handlers {

	}

	/** Guarded methods, for an application of any stack. */
	@Configuration(proxyBeanMethods = false)
	@Import({ SchemeMethods.class, RecoveryMethods.class })
	public static class Methods {

		@Bean
		Effects effects() {
			return new Effects();
		}

		@Bean
		static BeanPostProcessor countRoundTrips() {
			return new BeanPostProcessor() {

				@Override
				public Object postProcessAfterInitialization(Object bean, String beanName) {
					return (bean instanceof IdempotencyStore store) ? new CountingStore(store) : bean;
				}

			};
		}

	}

}
