"""Base requests: what is asked before any constraint, as templates over a topic (``{t}``).

Leaves out: topics (``topics``) and constraints.
"""

from __future__ import annotations

_REQUESTS = """Write an email to a friend about {t}.
Write a formal email to a city office about {t}.
Write an email that invites colleagues to a talk on {t}.
Write a short email that apologises for a mistake to do with {t}.
Write a thank-you email to a guide who showed you {t}.
Draft an email to a teacher with two questions about {t}.
Write an email to a newspaper that comments on its article about {t}.
Draft a reply to a customer who complained about {t}.
Write an email that asks for a refund of a course on {t}.
Compose a friendly reminder for a club meeting about {t}.
Write a letter to your younger self about {t}.
Write a letter to a grandmother who loves {t}.
Write a cover letter for a job that has to do with {t}.
Write a letter of complaint about {t}.
Write a letter to the mayor that asks for more support for {t}.
Write a postcard text that mentions {t}.
Explain {t} to a child of eight.
Explain {t} to a complete beginner.
Explain why so many people care about {t}.
Explain how views on {t} have changed over the last fifty years.
Explain the link between {t} and daily life.
Explain one common mistake about {t} and how to avoid it.
Explain what a beginner should know about {t}.
Explain {t} with the help of a comparison from the kitchen.
Explain the costs and the benefits of {t}.
Explain which skills one needs for {t}.
Describe {t} for a travel guide.
Describe {t} in the voice of an old sailor.
Describe {t} through the eyes of a visitor from far away.
Describe a typical day that has to do with {t}.
Describe the sounds and smells of {t}.
Describe a photograph that shows {t}.
Describe how {t} might look in one hundred years.
Describe the perfect gift for someone who loves {t}.
Write a short story about {t}.
Write a story for children about {t}.
Write a ghost story around {t}.
Write a funny story about two neighbours and {t}.
Write a story that begins with a lost key and ends with {t}.
Write a detective story that has to do with {t}.
Write a story about a robot that discovers {t}.
Write the opening scene of a novel about {t}.
Write the last page of a novel about {t}.
Write a fairy tale about a princess and {t}.
Write a fable with two animals about {t}.
Write a story told by an object that has to do with {t}.
Write a science fiction scene around {t}.
Write a diary entry about a day with {t}.
Write a diary entry of a traveller who comes across {t}.
Write a poem about {t}.
Write a limerick about {t}.
Write a love poem to {t}.
Write a poem about {t} for a birthday card.
Write a rap about {t}.
Write the lyrics of a slow song about {t}.
Write the lyrics of a cheerful song about {t}.
Write a lullaby about {t}.
Write a riddle whose answer is {t}.
List the best reasons to care about {t}.
List some facts about {t} that few people know.
List the things one should bring along for {t}.
List common questions about {t} and answer each of them.
List the pros and cons of {t}.
List ideas for a school project on {t}.
List five mistakes that beginners make with {t}.
List books and films that one could enjoy after reading about {t}.
List the steps of planning a weekend around {t}.
List good names for a cafe whose theme is {t}.
Give advice to someone who is nervous about {t}.
Give advice to parents whose child is interested in {t}.
Give advice on how to save money on {t}.
Give advice on how to write about {t}.
Give three tips for taking pictures of {t}.
Give tips on how to learn more about {t} at home.
Give tips for a first visit that has to do with {t}.
Give a balanced view of {t}.
Write a product description for a board game about {t}.
Write a product description for a calendar with pictures of {t}.
Write a product description for a book about {t}.
Write a product description for an app that teaches {t}.
Write a product description for a mug with a print of {t}.
Write an advertisement for an evening class on {t}.
Write an advertisement for a museum of {t}.
Write a slogan and a short pitch for a company that deals with {t}.
Write a radio spot about {t}.
Write a flyer for a festival of {t}.
Write a poster text for a lecture on {t}.
Write a dialogue between a teacher and a pupil about {t}.
Write a dialogue between two strangers on a bus about {t}.
Write a dialogue between a cat and a dog about {t}.
Write a dialogue in which a father and a daughter argue about {t}.
Write a dialogue between a doctor and a patient who keeps talking about {t}.
Write a telephone call between two old friends about {t}.
Write an interview with an expert on {t}.
Write an interview with a person who dislikes {t}.
Write a job interview for a post that has to do with {t}.
Write a scene for a stage play about {t}.
Write a comedy sketch about {t}.
Write a monologue of somebody who is tired of {t}.
Summarise what most people know about {t}.
Summarise the history of {t}.
Summarise the debate about {t} in a neutral tone.
Summarise the plot of an invented film about {t}.
Summarise an invented study on {t}.
Summarise three arguments in favour of {t}.
Write a summary of a talk on {t} for people who missed it.
Write a blog post about {t}.
Write a blog post about a surprise that had to do with {t}.
Write a blog post that compares {t} with a hobby of your choice.
Write a travel blog entry that includes {t}.
Write an essay about {t}.
Write an essay on what we can learn from {t}.
Write an essay against {t}.
Write an essay that defends {t}.
Write a school essay about a memory of {t}.
Write a newspaper article about {t}.
Write a local news item about an accident with {t}.
Write a headline and a first paragraph about {t}.
Write an opinion piece about {t}.
Write a review of an exhibition about {t}.
Write a review of a film about {t}.
Write a bad review of a guided tour about {t}.
Write a review of a book about {t}.
Write a speech about {t} for a wedding.
Write a speech about {t} for a school assembly.
Write a speech by a politician who promises more {t}.
Write a toast that mentions {t}.
Write a welcome speech for a conference on {t}.
Write a eulogy for an inventor who loved {t}.
Write a recipe whose name plays on {t}.
Write a menu for a dinner whose theme is {t}.
Plan a birthday party whose theme is {t}.
Plan a lesson about {t} for ten pupils.
Plan a weekend trip for a family that wants to see {t}.
Plan a small exhibition about {t}.
Plan a budget for a club devoted to {t}.
Plan a month of practice for someone new to {t}.
Make a schedule for a workshop on {t}.
Make a quiz about {t} with answers.
Make a checklist for {t}.
Make a glossary of words that have to do with {t}.
Make a timeline of a life spent with {t}.
Make up a myth that explains the origin of {t}.
Make up a proverb about {t} and explain it.
Make up a holiday in honour of {t}.
Make up a secret society devoted to {t}.
Make up a conversation between two historians of {t}.
Invent a game that has to do with {t} and give its rules.
Invent a superhero whose powers come from {t}.
Invent a new tool for {t} and describe it.
Invent a small town that is famous for {t}.
Invent a job title that has to do with {t} and describe the job.
Create a resume for a specialist in {t}.
Create a character who is afraid of {t}.
Create a character sketch of a collector of {t}.
Create a social media post about {t}.
Create a set of instructions for a volunteer who helps with {t}.
Create a mission statement for a charity that supports {t}.
Create a business plan for a shop that sells things to do with {t}.
Create a podcast introduction about {t}.
Create a weather report that mentions {t}.
Create a horoscope that warns of {t}.
Create a crossword clue for {t} and explain it.
Compare {t} with the weather.
Compare {t} now with {t} a century ago.
Compare how children and adults see {t}.
Compare two ways of learning about {t}.
Compare the reasons for and against {t}.
Discuss whether {t} should be taught at school.
Discuss the future of {t}.
Discuss what {t} can do for small towns.
Discuss what would happen without {t}.
Discuss the role of chance in {t}.
Discuss {t} from the point of view of an economist.
Discuss {t} from the point of view of a biologist.
Discuss {t} from the point of view of an artist.
Tell me about {t}.
Tell me a joke about {t} and explain why it is funny.
Tell me what I could say about {t} at a party.
Tell me how to start a club for {t}.
Tell me what surprised you most about {t}.
Tell me what different cultures think of {t}.
Tell the story of a failed attempt that had to do with {t}.
Tell the story of a friendship that began with {t}.
Help me write a note to my landlord about {t}.
Help me write a proposal for a study of {t}.
Help me prepare a talk on {t}.
Help me find a title and an outline for an essay on {t}.
Help me understand why my brother loves {t} so much.
Help me choose a present that has to do with {t}.
Help me convince my family to try {t}.
I am writing a novel about {t}. How should it begin?
I have to speak about {t} tomorrow. What should I say?
I know nothing about {t}. Where should I start?
My neighbour keeps talking about {t}. What can I answer?
My class has to write about {t}. Give us an example.
What are the most interesting questions about {t}?
What makes {t} special?
What would a visitor from another planet think of {t}?
What is the best time of the year for {t} and why?
What should a good documentary about {t} show?
What can go wrong with {t}?
How can one make {t} more popular?
How would you explain {t} to a king of the Middle Ages?
How do people usually get interested in {t}?
How would a world without {t} look?
How do films usually show {t}?
Why do some people dislike {t}?
Why would anyone write a song about {t}?
Who in your view knows most about {t}?
Rewrite the sentence "Nobody talks about {t} any more" in a more cheerful way and go on from there.
Continue the text that starts with "It was all about {t} that summer".
Turn the idea of {t} into a short lesson.
Turn {t} into a metaphor for courage and explain it.
Give a short introduction to {t} for tourists.
Give an example of a problem that {t} can solve.
Propose a new law about {t}.
Propose a title and a plot for a musical about {t}.
Suggest a name for a magazine about {t} and describe its first issue.
Suggest three research questions about {t}.
Imagine that {t} could speak. What would it say?
Imagine a museum of the future that shows {t}. What is in it?
Pretend that you are a salesman and talk about {t}.
Pretend that you are a detective who investigates {t}.
Reflect on a memory that has to do with {t}."""
REQUESTS = tuple(_REQUESTS.split("\n"))
_QUESTIONS = """Would you recommend {t} to a beginner?
Is it a good idea to spend a whole weekend on {t}?
Should every school teach something about {t}?
Do you think that {t} will still matter in fifty years?
Can one make a living with {t}?
Would a child of six enjoy a book about {t}?
Would {t} be a good subject for a first date?
Should the city spend more money on {t}?
Is it possible to understand {t} without a teacher?
Would you choose {t} as the theme of a party?
Do most people underestimate {t}?
Is there anything dangerous about {t}?
Would a film about {t} be a success?
Should I write my next essay about {t}?
Is it hard to find good information about {t}?
Do you believe that {t} can bring people together?
Could {t} be the answer to a boring Sunday?
Do young people still care about {t}?
Would my grandfather like to talk about {t}?
Should there be a national day in honour of {t}?
Is it fair to call {t} an art?
Can {t} help somebody who feels lonely?
Will {t} look very different in the next decade?
Would you give a lecture on {t}?"""
QUESTIONS = tuple(_QUESTIONS.split("\n"))
"""Questions that yes, no or maybe can answer."""
