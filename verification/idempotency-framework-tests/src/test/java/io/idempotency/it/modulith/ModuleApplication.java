package io.idempotency.it.modulith;

import java.util.List;

import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;
import io.idempotency.TransactionMode;
import org.aopalliance.intercept.MethodInterceptor;

import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.modulith.events.ApplicationModuleListener;
import org.springframework.transaction.annotation.Transactional;

/**
 * Guarded listeners of Spring Modulith. What they do is in the database of its event
 * publication registry, which outlives the application.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import({ ModuleApplication.Effects.class, ModuleApplication.Bookings.class, ModuleApplication.Listeners.class })
class ModuleApplication {

	/** Between the advice of Modulith, which completes a publication, and the guard. */
	private static final int BEFORE_THE_GUARD = 100;

	/**
	 * Stands for the death of a process whose listener has returned, and whose
	 * publication is not complete yet.
	 */
	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	@ConditionalOnProperty(name = "test.fault", havingValue = "after")
	static DefaultPointcutAdvisor faultBehindTheListener() {
		MethodInterceptor fault = (invocation) -> {
			invocation.proceed();
			throw new IllegalStateException("Nobody is told that the listener has returned");
		};
		DefaultPointcutAdvisor advisor = new DefaultPointcutAdvisor(
				AnnotationMatchingPointcut.forMethodAnnotation(ApplicationModuleListener.class), fault);
		advisor.setOrder(BEFORE_THE_GUARD);
		return advisor;
	}

	record Paid(String id) {
	}

	record Shipped(String id) {
	}

	record Booked(String id) {
	}

	/** What the listeners did, in the transaction of each. */
	static class Effects {

		private final JdbcTemplate jdbc;

		Effects(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
			jdbc.execute("create table if not exists effects (event varchar(100) not null)");
		}

		void add(Object event) {
			this.jdbc.update("insert into effects (event) values (?)", event.toString());
		}

		List<String> all() {
			return this.jdbc.queryForList("select event from effects", String.class);
		}

	}

	static class Bookings {

		private final Effects effects;

		Bookings(Effects effects) {
			this.effects = effects;
		}

		@Transactional
		@Idempotent(key = "#event.id", transaction = TransactionMode.JOIN)
		public void book(Booked event) {
			this.effects.add(event);
		}

	}

	static class Listeners {

		private final Effects effects;

		private final Bookings bookings;

		private final String fault;

		Listeners(Effects effects, Bookings bookings, @Value("${test.fault}") String fault) {
			this.effects = effects;
			this.bookings = bookings;
			this.fault = fault;
		}

		@ApplicationModuleListener
		@Idempotent("#event.id")
		public void on(Paid event) {
			act(event);
		}

		@ApplicationModuleListener
		@Idempotent(key = "#event.id", mode = IdempotencyMode.REJECT)
		public void on(Shipped event) {
			act(event);
		}

		/** The listener's transaction is that of the record, too. */
		@ApplicationModuleListener
		public void on(Booked event) {
			this.bookings.book(event);
			fail();
		}

		private void act(Object event) {
			this.effects.add(event);
			fail();
		}

		private void fail() {
			if (this.fault.equals("inside")) {
				throw new IllegalStateException("The work is rolled back");
			}
		}

	}

}
