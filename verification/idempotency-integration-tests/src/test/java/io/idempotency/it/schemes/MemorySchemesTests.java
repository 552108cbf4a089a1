package io.idempotency.it.schemes;

import org.springframework.test.context.TestPropertySource;

@TestPropertySource(properties = "idempotency.store=memory")
class MemorySchemesTests extends SchemesTests {

}
